"""Fine-tuning as a fairseq task."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from fairseq.tasks import register_task

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.errors import CorpusError
from mpbert.model.config import FINETUNE, ModelConfig, NoiseConfig, ReadingConfig, UpperConfig
from mpbert.model.directory import take_tuned
from mpbert.model.fairseq_plugin.bases import TokenTask, evenly_spaced
from mpbert.model.fairseq_plugin.finetuning.dataset import CitationExamples
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import task_options
from mpbert.model.noise import Noise
from mpbert.model.packing import TokenCounts
from mpbert.model.reading import Reading
from mpbert.model.sampling import CitingSentences
from mpbert.model.sentences import Sentences
from mpbert.model.shares import Processes
from mpbert.model.token_counts import PaperTokens
from mpbert.pretrained.sentence_vectors import ENCODER
from mpbert.pretrained.token_states import TokenStates

if TYPE_CHECKING:  # of a library that other trainings do without
    from mpbert.model.tuned import TunedLayers

_MEASURED = 1000  # papers whose mean length exact matches take
FinetuneOptions = task_options(
    "FinetuneOptions", FINETUNE, ReadingConfig, NoiseConfig, known="train"
)


@register_task("mpbert_finetune", dataclass=FinetuneOptions)
class FinetuneTask(TokenTask):
    """Bring manuscripts near the papers they cite."""

    def __init__(self, cfg: Any) -> None:
        noise = section_of(NoiseConfig, cfg, FINETUNE)
        self.reading = Reading(section_of(ReadingConfig, cfg, FINETUNE), cfg.seed)
        super().__init__(cfg)
        self.source = Sentences(self.corpus.gather)
        self.known = tuple(cfg.known.split())
        train, num_papers = self.corpus.training_contexts(self.known), self.corpus.num_papers
        self.noise = Noise(train, num_papers, noise)
        self.citing = CitingSentences.of(train, num_papers)
        self.cuts: list[int] = []  # of a vector, into parts that learn by a loss each
        self.counted: PaperTokens | None = None  # for exact matches, if these count
        self.states: TokenStates | None = None  # that enter tuned layers, if there are any

    def note_model(self, config: ModelConfig) -> None:
        """Note its sizes, parts that learn apart, and which sentences its levels read."""
        super().note_model(config)
        self.cuts = [config.dim] if config.upper.losses_apart else []
        stored, is_tuned = self.vectors, config.upper.tuned_layers > 0
        self.source = Sentences(
            self.corpus.gather,
            config.upper.roles,
            stored.gather if stored and not is_tuned else None,
            stored.texts_of if is_tuned else None,
        )
        self.states = stored.states if is_tuned else None
        if config.lexical.exact_matches:
            self.counted = PaperTokens(self.corpus, self.citing)

    def layers_to_tune(self, upper: UpperConfig, start: Path | None) -> "TunedLayers | None":
        """Return the last layers of the pretrained encoder; None where it stays as it is.

        :param start: encoder directory whose tuned layers they start from; None: as pretrained.
        """
        if not upper.tuned_layers:
            return None
        from mpbert.model.tuned import TunedLayers
        from mpbert.pretrained.sentence_encoder import SentenceEncoder

        whole = SentenceEncoder(self.vectors.path / ENCODER, torch.device("cpu"))
        layers = TunedLayers(whole, upper.tuned_layers)
        if start is not None:
            take_tuned(layers.layers, start)
        return layers

    def start_of_matches(self) -> tuple[torch.Tensor, int, TokenCounts]:
        """Return what exact matches start from, see ``LexicalLevel.start_from``."""
        rows = np.flatnonzero(self.corpus.splits == SPLITS.index("train"))
        frequencies = torch.from_numpy(self.counted.document_frequencies(rows))
        some = rows[evenly_spaced(len(rows), _MEASURED)]
        return frequencies, len(rows), self.counted.of(some)

    def load_dataset(self, split: str, **kwargs: Any) -> None:
        """Load the contexts of ``train`` or ``valid``.

        :raises CorpusError: the split has no context.
        """
        training = split == "train"
        corpus = self.corpus
        contexts = corpus.distinct_contexts(split)
        if training:
            contexts = corpus.training_contexts(self.known)
        if len(contexts) == 0:
            raise CorpusError(f"{self.cfg.data}: no context in split {split!r}; choose other years")
        self.datasets[split] = CitationExamples(
            self.corpus,
            contexts,
            self.noise,
            self.reading,
            self.citing,
            self.source,
            self.counted,
            self.states,
            shuffle=training,
            max_items=None if training else self.cfg.max_valid,
            processes=Processes.now(),
        )

    def get_batch_iterator(self, *arguments: Any, **named: Any) -> Any:
        """Return all batches in every process: processes share each batch, see ``model.shares``.

        So the batches, their order and the place in an epoch do not depend on the number of
        processes.
        """
        return super().get_batch_iterator(*arguments, **{**named, "num_shards": 1, "shard_id": 0})
