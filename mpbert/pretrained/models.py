"""Any encoder of Hugging Face's library: found, and loaded without code or pickles.

Three ways to name one: a local folder; a name on the hub, ``NAME`` or ``NAME@REVISION``, whose
configuration, tokenizer and safetensors files are fetched (:mod:`mpbert.pretrained.folders`);
``random:LAYERSxDIM``, a BERT that starts from random weights, with a vocabulary learnt from the
training split, for which nothing is fetched.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers
from tokenizers.processors import TemplateProcessing
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from mpbert.corpus.special_tokens import SPECIAL_TOKENS
from mpbert.corpus.subwords import train_tokenizer
from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.pretrained.folders import folder_of, one_line

_RANDOM = re.compile(r"random:(\d+)x(\d+)")
_HEAD_DIM = 64  # as in BERT
_KINDS = {  # what a model is loaded as, with further values of its configuration
    "none": (AutoModel, {}),
    "masked": (AutoModelForMaskedLM, {}),
    "pair": (AutoModelForSequenceClassification, {"num_labels": 1}),
}

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def load(
    name: str, head: str, seed: int, vocab_size: int, texts: Callable[[], Sequence[str]]
) -> tuple[nn.Module, transformers.PreTrainedTokenizerBase]:
    """Return a model and its tokenizer.

    :param name: folder, name on the hub, or ``random:LAYERSxDIM``.
    :param head: ``none``; ``masked``, which predicts tokens; ``pair``, one number for two texts.
    :param seed: of random weights.
    :param vocab_size: of a random model.
    :param texts: returns what a random model's vocabulary is learnt from.
    :raises EncoderError: there is no such model, or it is not usable.
    """
    if name.startswith("random:"):
        return _random_bert(name, head, seed, vocab_size, texts())
    folder = folder_of(name)
    if not any(folder.glob("*.safetensors")):
        raise EncoderError(_no_weights(name, folder))
    kind, changes = _KINDS[head]
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)  # of the head, where the weights have none
            model, report = kind.from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=torch.float32,
                output_loading_info=True,
                **changes,
            )
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # the library raises whatever its parts raise
        raise EncoderError(
            f"{name}: not loadable ({one_line(error)}); expected the configuration, tokenizer and "
            f"safetensors of an encoder that needs no code of its own"
        ) from error
    _check(name, model, tokenizer, report["missing_keys"])
    return model, tokenizer


def _no_weights(name: str, folder: Path) -> str:
    return (
        f"{name}: found no *.safetensors among its files; pickled weights (pytorch_model.bin) are "
        f'not read, convert them with python -c "from transformers import AutoModelForMaskedLM '
        f"as M, AutoTokenizer as T; M.from_pretrained('{name}').save_pretrained('converted'); "
        f"T.from_pretrained('{name}').save_pretrained('converted')\" and give model=converted, or "
        f"a revision on the hub that has them as model=NAME@REVISION"
    )


def _check(
    name: str, model: nn.Module, tokenizer: transformers.PreTrainedTokenizerBase, missing: set[str]
) -> None:
    config = model.config
    if config.is_encoder_decoder or getattr(config, "is_decoder", False):
        raise EncoderError(
            f"{name}: {config.model_type} is no encoder; expected one such as BERT or RoBERTa"
        )
    body = {key for key, _ in model.base_model.named_parameters()}
    prefix = f"{model.base_model_prefix}."
    absent = sorted(key for key in missing if key.removeprefix(prefix) in body)
    absent = [key for key in absent if "pooler" not in key]
    if absent:
        raise EncoderError(
            f"{name}: its weights lack {absent[0]} and {len(absent) - 1} more; expected those of "
            f"the configuration beside them"
        )
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise EncoderError(
            f"{name}: {len(tokenizer)} tokens for {model.get_input_embeddings().num_embeddings} "
            f"embeddings; expected the tokenizer of the model"
        )


def _random_bert(
    name: str, head: str, seed: int, vocab_size: int, texts: Sequence[str]
) -> tuple[nn.Module, transformers.PreTrainedTokenizerBase]:
    """Return an untrained BERT (Devlin et al., NAACL 2019) whose weights depend on the seed.

    Its tokenizer is byte-pair encoding, as ours: the library's WordPiece trainer numbers pieces in
    the order of a hash table, so that no two runs would agree.
    """
    sizes = _RANDOM.fullmatch(name)
    if sizes is None or min(map(int, sizes.groups())) < 1:
        raise ConfigError(f"model={name}: expected random:LAYERSxDIM, for example random:4x256")
    layers, dim = map(int, sizes.groups())
    heads = max(dim // _HEAD_DIM, 1)
    if dim % heads:
        raise ConfigError(f"model={name}: found {dim}; expected a multiple of {_HEAD_DIM}")
    tokenizer = _own_tokenizer(texts, vocab_size)
    kind, changes = _KINDS[head]
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=dim,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * dim,
        hidden_dropout_prob=0.0,  # a few epochs do not overfit, and dropout costs a quarter
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
        **changes,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind.from_config(config), tokenizer


def _own_tokenizer(texts: Sequence[str], vocab_size: int) -> transformers.PreTrainedTokenizerBase:
    unknown, start, separator, mask = SPECIAL_TOKENS
    tokenizer = train_tokenizer(lambda: texts, vocab_size, len(texts))
    tokenizer.add_special_tokens(["<pad>"])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A {separator}",
        pair=f"{start} $A {separator} $B {separator}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (start, separator)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=unknown,
        cls_token=start,
        sep_token=separator,
        mask_token=mask,
        pad_token="<pad>",
        model_max_length=512,
    )
