"""``binarize``: corpus store -> tokenizer and memory-mapped token ids."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.engine_choice import engine_of, engine_option
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory
from mpbert.foundation.parts import parts_of
from mpbert.foundation.progress import progress

if TYPE_CHECKING:  # what --help need not wait for
    from tokenizers import Tokenizer

    from mpbert.corpus.store import CorpusStore

logger = logging.getLogger(__name__)
CHUNK = 50_000  # sentences tokenised at once: bounds memory, keeps all cores busy


@dataclass(frozen=True)
class Config:
    """Train a tokenizer on the training split and store all sentences as token ids."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "binary corpus to write")
    vocab_size: int = option(30000, "tokens of the tokenizer, special ones included")
    sentence_tokens: int = option(
        50, "longest sentence in tokens, without separator; the rest is cut"
    )
    tokenizer_sentences: int = option(1_000_000, "most training sentences to learn from")
    engine: str = engine_option()

    def __post_init__(self) -> None:
        if not 300 <= self.vocab_size <= 2**31 - 1:
            raise ConfigError(f"--vocab-size is {self.vocab_size}; expected 300 or more")
        if not 1 <= self.sentence_tokens <= 1023:  # the encoder has 1024 places, separator included
            raise ConfigError(f"--sentence-tokens is {self.sentence_tokens}; expected 1 to 1023")
        check_least(self, tokenizer_sentences=1)


def run(config: Config) -> None:
    """Write ``tokens.npy``, the offsets, the contexts and ``tokenizer.json``."""
    import numpy as np

    from mpbert.corpus.numbering import number_offsets
    from mpbert.corpus.store import CorpusStore

    if is_finished(config.output, "binarize", config, inputs_of(config)):
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs_of(config))
    store = CorpusStore(config.corpus)
    with output_directory(config.output, "binarize", config, inputs_of(config)) as out:
        tokenizer = _train(store, config)
        tokenizer.save(str(out.path / "tokenizer.json"))
        vocab_size = tokenizer.get_vocab_size()
        tokens, lengths = _write_tokens(store, tokenizer, config, out.path)
        per_paper = np.diff(number_offsets(store))  # the title comes first
        np.save(out.path / "paper_lengths.npy", per_paper.astype(np.int32))
        np.save(out.path / "num_abstract.npy", store.num_abstract.astype(np.int32) + 1)
        codes = {split: code for code, split in enumerate(SPLITS)}
        splits = np.array([codes[s] for s in store.paper_splits.tolist()], dtype=np.uint8)
        np.save(out.path / "splits.npy", splits)
        _write_lines(out.path / "papers.ids.txt", store.paper_ids)
        for split in SPLITS:
            out.counts[f"contexts_{split}"] = _write_contexts(store, split, out.path)
        (out.path / "meta.json").write_text(
            json.dumps({"vocab_size": vocab_size, "max_tokens": config.sentence_tokens}) + "\n",
            encoding="utf-8",
        )
        out.counts |= {"papers": store.num_papers, "sentences": lengths, "tokens": tokens}
    logger.info("%s: %s tokens in %s sentences", config.output, f"{tokens:,}", f"{lengths:,}")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus]


def _train(store: "CorpusStore", config: Config) -> "Tokenizer":
    """Learn from the training split alone, from evenly spaced sentences where there are many."""
    import numpy as np

    from mpbert.corpus.subwords import train_tokenizer

    in_train = np.repeat(store.paper_splits == "train", np.diff(store.sentence_offsets))
    rows = np.flatnonzero(in_train)
    if len(rows) == 0:
        raise CorpusError(f"{config.corpus}: no sentence in the training split; choose other years")
    if len(rows) > config.tokenizer_sentences:
        places = np.linspace(0, len(rows) - 1, config.tokenizer_sentences).astype(np.int64)
        rows = rows[places]
    titles = [t for t, s in zip(store.titles, store.paper_splits, strict=True) if s == "train"]

    def texts() -> Iterator[str]:
        yield from titles
        for some in progress(store.iter_sentence_texts(rows), "tokenizer", "chunk"):
            yield from some

    return train_tokenizer(texts, config.vocab_size, len(rows) + len(titles))


def _write_tokens(
    store: "CorpusStore", tokenizer: "Tokenizer", config: Config, path: Path
) -> tuple[int, int]:
    """Tokenise paper by paper in chunks, title first; return numbers of tokens and sentences."""
    import numpy as np

    from mpbert.corpus.tokenizing import Tokenizing, paper_chunks, token_type

    chunks = paper_chunks(store, CHUNK)
    work = Tokenizing(config.corpus, tokenizer.to_str(), config.sentence_tokens)
    parts = parts_of(config.output, "tokens", "binarize", config, inputs_of(config))
    raw, lengths, dtype = path / "tokens.raw", [], token_type(tokenizer)
    with raw.open("wb") as file, engine_of(config.engine) as engine:
        results = engine.results(work, chunks, parts)
        for part in progress(results, "binarize", "chunk", len(chunks)):
            file.write(part["tokens"].tobytes())
            lengths.append(part["lengths"])
    sizes = np.concatenate(lengths)
    np.save(path / "sentence_lengths.npy", sizes)
    flat = np.memmap(raw, dtype=dtype, mode="r")
    np.save(path / "tokens.npy", flat)
    raw.unlink()
    return len(flat), len(sizes)


def _write_contexts(store: "CorpusStore", split: str, path: Path) -> int:
    import numpy as np

    from mpbert.corpus.numbering import number_offsets

    contexts = store.contexts(split)
    title_offsets = number_offsets(store)
    arrays = {
        "citing_rows": contexts.citing_rows.astype(np.int32),
        "sentences": title_offsets[contexts.citing_rows] + 1 + contexts.positions,
        "cited_offsets": contexts.cited_offsets,
        "cited_rows": contexts.cited_rows.astype(np.int32),
        "is_repeat": contexts.is_repeat,
    }
    for name, array in arrays.items():
        np.save(path / f"contexts.{split}.{name}.npy", array)
    _write_lines(path / f"contexts.{split}.ids.txt", contexts.query_ids)
    return len(contexts)


def _write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
