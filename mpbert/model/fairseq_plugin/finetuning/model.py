"""Manuscript encoder and citation encoder as a fairseq model."""

import dataclasses
from pathlib import Path
from typing import Any

import torch
from fairseq.models import register_model
from torch import Tensor, nn

from mpbert.foundation.manifest import check_inputs
from mpbert.model.config import FINETUNE, LEVEL_SIZES, STACKED, ModelConfig, TrainingConfig
from mpbert.model.configuration import knobs
from mpbert.model.description import PRETRAINED, check_same_tokenizer, read_description
from mpbert.model.directory import load_two_tower, take_document_level
from mpbert.model.encoder import UPPER, TwoTower
from mpbert.model.fairseq_plugin.bases import WrappedModel
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.packed_states import PackedStates
from mpbert.model.packing import PackedPapers
from mpbert.model.shares import Share

TwoTowerOptions = fairseq_dataclass(
    "TwoTowerOptions",
    [
        *knobs(ModelConfig, FINETUNE),
        *knobs(TrainingConfig, FINETUNE, "autocast_bf16", "bag_lr", "tuned_lr"),
    ],
    init="",
    document_level="",
)


@register_model("mpbert_two_tower", dataclass=TwoTowerOptions)
class FairseqTwoTower(WrappedModel):
    """Wraps :class:`TwoTower`; adds the layers that are tuned below both towers."""

    def __init__(self, model: TwoTower, autocast_bf16: bool, tuned: nn.Module | None) -> None:
        super().__init__(model, autocast_bf16)
        self.tuned = tuned

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "FairseqTwoTower":
        """Start from the encoder ``--init``, or at random with the given sizes.

        With ``--init`` the sizes are those of that encoder; dropout, the bag, roles, the shared
        table and levels beside the bag are as given. Weights of tokens that it has learnt stay.
        """
        config, learnt = section_of(ModelConfig, cfg, FINETUNE), False
        tuned_start = None
        starts_matches = config.lexical.exact_matches
        config = dataclasses.replace(config, upper=task.upper_of(config))
        if cfg.init:
            start = Path(cfg.init)
            check_inputs([start])
            check_same_tokenizer(start, task.corpus.path)
            description = read_description(start)
            learnt = description.kind != PRETRAINED and description.model.bag.token_weights
            tuned_start = start if description.model.upper.tuned_layers else None
            starts_matches = description.model.lacks_matches_of(config)
            names = ["dropout", "bag", "sentence_roles", "shared_tokens", "upper", "lexical"]
            if description.model.lacks_levels_of(config):
                names += LEVEL_SIZES
            given = {name: getattr(config, name) for name in names}
            model = load_two_tower(start, decoder_layers=0, **given)
        else:
            vocab_size = task.corpus.vocab_size
            model = TwoTower(dataclasses.replace(config, vocab_size=vocab_size, decoder_layers=0))
        if cfg.document_level:
            take_document_level(model, Path(cfg.document_level))
        if config.bag.token_weights and not learnt:
            model.weigh_tokens(torch.from_numpy(task.corpus.token_counts()))
        task.note_model(model.config)
        if starts_matches:
            model.lexical.start_from(*task.start_of_matches())
        if config.upper.join != STACKED:
            for tower in (model.manuscript, model.citation):
                for name, parameter in tower.named_parameters():
                    if not name.startswith(UPPER):
                        parameter.lr_factor = cfg.bag_lr
        tuned = task.layers_to_tune(config.upper, tuned_start)
        for parameter in tuned.parameters() if tuned else ():
            parameter.lr_factor = cfg.tuned_lr
        return cls(model, cfg.autocast_bf16, tuned)

    def forward(
        self,
        manuscripts: PackedPapers,
        papers: PackedPapers,
        share: Share,
        states: PackedStates | None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Encode a batch.

        :param share: of the papers that this process has of all of the batch.
        :param states: of the distinct sentences of both, for tuned layers; None: there are none.
        :returns: (B, D) manuscript vectors, (U, D) vectors of the batch's distinct papers, and
            (B, U) logits of exact matches, None where these do not count.
        """
        device = self.model.citation.norm.weight.device
        manuscripts, papers, matches = manuscripts.to(device), papers.to(device), None
        with self.autocast(device):
            if self.tuned is not None:
                vectors = self.tuned(states.to(device))
                manuscripts, papers = (x.with_vectors(vectors) for x in (manuscripts, papers))
            s, t = self.model.manuscript(manuscripts), self.model.citation(papers)
        if self.model.lexical is not None:
            matches = self.model.lexical(manuscripts.counts, papers.counts, share)
        return s.float(), share.gather(t.float()), matches
