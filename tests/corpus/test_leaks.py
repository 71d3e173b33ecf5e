import re

import pyarrow.parquet as pq
import pytest

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import MARKER_LIKE


def leaks(texts: list[str]) -> list[str]:
    """Texts with a marker as RFCs have them; author and year are no marker there."""
    kinds = [MARKER_LIKE[kind] for kind in ("rfc", "series", "numbered")]
    return [text for text in texts if any(pattern.search(text) for pattern in kinds)]


def named(store: CorpusStore, texts: list[str], contexts) -> list[str]:
    """Contexts whose text holds the bare number of a paper that they cite."""
    return [
        contexts.query_ids[i]
        for i, text in enumerate(texts)
        for row in contexts.cited(i)
        if re.search(rf"(?<!\d){store.paper_ids[row][3:]}(?!\d)", text)
    ]


def test_no_sentence_heading_or_title_holds_a_marker(store):
    headings = pq.read_table(store.path / "sections.parquet")["heading"].to_pylist()
    assert leaks(store.sentences.to_pylist()) == []
    assert leaks(headings) == []
    assert leaks(store.titles) == []


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_no_context_holds_the_number_of_a_paper_it_cites(store, split):
    contexts = store.contexts(split)
    assert named(store, store.local_texts(contexts), contexts) == []


@pytest.mark.parametrize("leak", ["[RFC{}]", "RFC {}", "RFC-{}", "rfc{}bis", "{}"])
def test_a_planted_leak_is_caught(store, leak):
    contexts = store.contexts("test")
    texts = store.local_texts(contexts)
    number = store.paper_ids[contexts.cited(5)[0]][3:]
    texts[5] += " as " + leak.format(number)
    assert named(store, texts, contexts) == [contexts.query_ids[5]]
    assert leaks(texts) == ([texts[5]] if leak != "{}" else [])
