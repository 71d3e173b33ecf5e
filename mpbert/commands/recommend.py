"""``recommend``: a manuscript with marked places -> ranked papers for each place."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.config import option, positional
from mpbert.data.manuscript import Manuscript, read_manuscript, read_manuscript_file
from mpbert.data.ragged import offsets_of, ranges
from mpbert.data.sampling import sample_manuscripts
from mpbert.data.store import CorpusStore
from mpbert.data.subwords import tokenize
from mpbert.errors import ConfigError
from mpbert.retrieval.dense import DenseIndex
from mpbert.vectors.store import VectorStore, check_ids


@dataclass(frozen=True)
class Config:
    """Recommend papers for each [CITATION] in a text or JSON manuscript (- for standard input)."""

    manuscript: Path = positional("manuscript", "text file with [CITATION] where papers belong")
    encoder: Path = positional("encoder", "encoder directory")
    vectors: Path = positional("vectors", "vectors directory made with this encoder")
    corpus: Path = positional("corpus", "corpus store, for the titles")
    top: int = option(10, "papers per place")
    draws: int = option(5, "random readings of the manuscript whose vectors are averaged")
    seed: int = option(1, "seed of the readings")
    json: bool = option(False, "print JSON instead of text")

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.top < 1 or self.draws < 1:
            raise ConfigError(f"--top {self.top} --draws {self.draws}; expected 1 or more of each")


def run(config: Config) -> None:
    """Print the papers, best first, with cosine similarity, id, year and title."""
    manuscript = _read(config.manuscript)
    store = CorpusStore(config.corpus)
    papers = VectorStore.load(config.vectors, "papers")
    check_ids(papers, store.paper_ids, "papers")
    queries = _embed(manuscript, config)
    nobody = np.full(len(queries), -1)
    rows, scores = DenseIndex(papers.vectors).search(queries, config.top, nobody)
    found = [
        {
            "place": place + 1,
            "sentence": manuscript.sentences[sentence],
            "papers": [
                {
                    "paper_id": store.paper_ids[row],
                    "title": store.titles[row],
                    "year": int(store.years[row]),
                    "score": round(float(score), 4),
                }
                for row, score in zip(rows[place], scores[place], strict=True)
            ],
        }
        for place, sentence in enumerate(manuscript.places)
    ]
    if config.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for place in found:
        print(f"\nplace {place['place']}: {place['sentence']}")
        for rank, paper in enumerate(place["papers"], start=1):
            print(
                f"{rank:>4}  {paper['score']:.3f}  {paper['paper_id']}  "
                f"{paper['title']} ({paper['year']})"
            )


def _read(path: Path) -> Manuscript:
    if str(path) == "-":
        return read_manuscript(sys.stdin.read(), "standard input")
    return read_manuscript_file(path)


def _embed(manuscript: Manuscript, config: Config) -> np.ndarray:
    """Return (Q, D) manuscript vectors, one a place, read as the encoder was trained to read."""
    # torch takes seconds to import, which --help need not wait for
    from mpbert.modeling.embedding import embed_sampled, mean_over_draws
    from mpbert.modeling.encoder import load_two_tower, read_config, read_tokenizer, sampling_of

    _, _, settings = read_config(config.encoder)
    model = load_two_tower(config.encoder).eval()
    tokens, lengths = tokenize(
        read_tokenizer(config.encoder), manuscript.sentences, settings["max_tokens"]
    )
    offsets = offsets_of(lengths)

    def gather(sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return tokens[ranges(offsets[sentences], lengths[sentences])], lengths[sentences]

    places = manuscript.places
    first, last = np.zeros_like(places), np.full_like(places, len(manuscript.sentences) - 1)
    sampling = sampling_of(settings)
    return mean_over_draws(
        lambda draw: sample_manuscripts(first, places, last, places, sampling, config.seed, draw),
        lambda sampled: embed_sampled(model.manuscript, sampled, gather, max_tokens=16384),
        config.draws,
    )
