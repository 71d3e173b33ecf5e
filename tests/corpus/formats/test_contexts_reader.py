"""Windows of contexts.json: the local context of the store is the window."""

import json
from pathlib import Path

import pytest

from mpbert.commands import build_corpus
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words

WINDOWS = [
    "e end of a sentence. This is the one that cites TARGETCIT in it. The next one is cut o",
    "and here is but a single long sentence with TARGETCIT in the middle of all its words",
    "One is here. Two (OTHERCIT; TARGETCIT) are here, and OTHERCIT too. Three is here. Four is cu",
    "no full stop before TARGETCIT. After it there is one. And so on, e.g. here",
    "before it. Something stands and then TARGETCIT ends all that we have here",
]


def write(root: Path) -> Path:
    papers, contexts = {}, {}
    for number, year in enumerate([2009, 2010, 2011, 2014, 2015]):
        citing, cited = f"c{number}", f"p{number}"
        papers[citing] = {"title": f"Citing {number}", "abstract": "It cites.", "year": year}
        papers[cited] = {"title": f"Cited {number}", "abstract": "It is cited.", "year": 2000}
        # in one paper two windows follow one another
        for window in (WINDOWS[number], WINDOWS[number - 1]):
            row = {"masked_text": window, "citing_id": citing, "refid": cited}
            contexts[f"{citing}_{cited}_{len(contexts)}"] = row
    (root / "papers.json").write_text(json.dumps(papers))
    (root / "contexts.json").write_text(json.dumps(contexts))
    return root


def test_the_local_context_of_a_query_is_its_window(tmp_path):
    (tmp_path / "raw").mkdir()
    raw = write(tmp_path / "raw")
    build_corpus.run(build_corpus.Config(raw, tmp_path / "store", reader="contexts"))
    store = CorpusStore(tmp_path / "store")
    found = {}
    for split in ("train", "valid", "test"):
        contexts = store.contexts(split)
        for query, text in zip(contexts.query_ids, store.local_texts(contexts), strict=True):
            found.setdefault(query.split("#")[0], []).append(words(text))
    for number in range(5):
        windows = [WINDOWS[number], WINDOWS[number - 1]]
        expected = [
            words(window.replace("TARGETCIT", "").replace("OTHERCIT", "")) for window in windows
        ]
        assert found[f"c{number}"] == expected


def test_the_splits_beside_the_contexts_are_used_if_wanted(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    write(raw)
    contexts = json.loads((raw / "contexts.json").read_text())
    for name, of in (("train", "c0 c1"), ("val", "c2"), ("test", "c3 c4")):
        rows = [{"context_id": i} for i, row in contexts.items() if row["citing_id"] in of]
        (raw / f"{name}.json").write_text(json.dumps(rows))
    config = build_corpus.Config(raw, tmp_path / "store", reader="contexts", split="given")
    build_corpus.run(config)
    store = CorpusStore(tmp_path / "store")
    splits = dict(zip(store.paper_ids, store.paper_splits.tolist(), strict=True))
    assert {i: s for i, s in splits.items() if i[0] == "c"} == {
        **{"c0": "train", "c1": "train", "c2": "valid", "c3": "test", "c4": "test"}
    }
    assert {s for i, s in splits.items() if i[0] == "p"} == {"train"}


@pytest.mark.parametrize("split", ["test", "val", "train"])
def test_one_file_of_splits_alone_leaves_the_other_contexts_out(tmp_path, split):
    write(tmp_path)
    (tmp_path / f"{split}.json").write_text('[{"context_id": "c0_p0_0"}]')
    from mpbert.corpus.formats.base import READERS

    reader = READERS["contexts"]()
    papers = {paper.paper_id: paper for paper in reader.read(tmp_path)}
    assert reader.counts["contexts_in_no_split"] == 9
    assert papers["c0"].split == {"val": "valid"}.get(split, split)
    assert papers["c1"].sections == ()
