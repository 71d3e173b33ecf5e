"""Papers in lists in a folder: what is killed, damaged, grown, or changed by two at once."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.foundation.errors import DamagedError, StoreUnavailableError
from mpbert.recommending.recommender import Recommender
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.stores import inverted
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.index import StoreIndex
from mpbert.retrieval.stores.papers import papers_in_store
from mpbert.retrieval.stores.urls import open_store
from mpbert.vectors.normal import normalized
from tests.serving.test_stores import ASKED, random_papers

OWNER = "a" * 64
FILL = """
import os, sys
from mpbert.retrieval.stores import inverted
from tests.serving.test_lists import filled
moment, url, number = sys.argv[1:]
def killed(done):
    def write(*given):
        found = done(*given)
        os._exit(9)
    return write
if moment:
    setattr(inverted.InvertedLists, moment, killed(getattr(inverted.InvertedLists, moment)))
filled(url, int(number))
"""


def filled(url, number):
    """Return so many papers in a store."""
    vectors, years, ids = random_papers(3000)
    rows = np.flatnonzero(vectors.any(axis=1))[:number]
    mark = Mark(OWNER, f"{number}")
    return papers_in_store(url, mark, ids, years, rows, lambda some: vectors[some])


def fill(moment, url, number):
    """Return a process that fills a store, and is killed at a moment if one is named."""
    return subprocess.Popen([sys.executable, "-c", FILL, moment, url, str(number)])


def nearest(url, number=200):
    return filled(url, number).propose(random_papers(20, seed=2)[0], 10, 2005)


@pytest.mark.parametrize("moment", ["add", "write"])
def test_a_killed_change_leaves_what_was_before(moment, tmp_path):
    url, other = f"lists:{tmp_path}/killed", f"lists:{tmp_path}/whole"
    assert fill(moment, url, 200).wait() == 9
    store = open_store(url, OWNER)
    assert store.mark() is None
    before = nearest(url)
    assert np.array_equal(before, nearest(other))
    assert fill(moment, url, 220).wait() == 9
    assert store.mark() == Mark(OWNER, "200")
    assert np.array_equal(nearest(url), before)
    assert np.array_equal(nearest(url, 220), nearest(other, 220))
    assert len(list((tmp_path / "killed").glob("*/[0-9]*"))) == 2


def test_two_that_fill_at_once_wait_for_each_other(tmp_path):
    url = f"lists:{tmp_path}"
    both = [fill("", url, 1000) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert sorted(path.name for path in tmp_path.glob("*/[0-9]*")) == ["1.faiss", "1.npy"]


def test_lists_are_learnt_anew_as_papers_grow_and_all_can_go(tmp_path):
    url = f"lists:{tmp_path}"
    vectors, years, ids = random_papers(3000)
    for number in (3, 40, 60, 2500, 3000, 1, 100):
        some = vectors.copy()
        some[number:] = 0
        queries = random_papers(50, seed=2)[0]
        stored = StoreIndex(some, "cosine", url, Mark(OWNER, f"{number}"), ids, years)
        rows, nobody = min(number, 10), np.array([-1])
        found = stored.search(queries, rows, nobody)[0]
        expected = DenseIndex(some).search(queries, rows, nobody)[0]
        assert (found[:, :, None] == expected[:, None]).any(2).mean() > 0.95
    gone = papers_in_store(url, Mark(OWNER, "none"), ids, years, np.arange(0), lambda some: vectors)
    assert (gone.propose(queries, 5, None) == -1).all()


def test_rows_follow_a_change_and_only_new_papers_are_put(tmp_path, monkeypatch):
    url, put = f"lists:{tmp_path}", []
    vectors, years, ids = random_papers(300)
    vectors[:2] = np.eye(16, dtype=np.float32)[:2]
    rows = np.flatnonzero(vectors.any(axis=1))
    papers_in_store(url, Mark(OWNER, "1"), ids, years, rows, lambda some: vectors[some])
    add = inverted.InvertedLists.add

    def counted(self, blocks):
        kept = list(blocks)
        put.extend(key for keys, _ in kept for key in keys.tolist())
        add(self, iter(kept))

    monkeypatch.setattr(inverted.InvertedLists, "add", counted)
    stays = np.delete(np.arange(300), [1, 5, 200])  # rows move up
    vectors, years, ids = vectors[stays], years[stays], [ids[row] for row in stays]
    vectors[-1] = np.eye(16, dtype=np.float32)[1]
    years[0] += 1  # a year alone is no new paper
    rows = np.flatnonzero(vectors.any(axis=1))
    asked = Mark(OWNER, "2"), ids, years, rows, lambda some: vectors[some]
    stored = papers_in_store(url, *asked)
    assert put == [(int(years[-1]) << 32) + 296]
    found = stored.propose(np.eye(16, dtype=np.float32)[:2], 400, None)
    assert found[:, 0].tolist() == [0, 296]
    assert all(sorted(row[row >= 0].tolist()) == rows.tolist() for row in found)
    assert stored.propose(vectors[:1], 5, 1)[0].max() < 3  # papers without a year stay
    papers_in_store(url, *asked)
    assert len(put) == 1


def damage(path, place, byte=b"\xff"):
    content = bytearray(path.read_bytes())
    content[place : place + 64] = byte * 64
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("kind", "does"),
    [
        ("faiss", lambda path: damage(path, 20)),
        ("faiss", lambda path: path.write_bytes(path.read_bytes()[:-100])),
        ("faiss", lambda path: path.unlink()),
        ("json", lambda path: damage(path, 0)),
    ],
)
def test_a_damaged_file_is_told_in_one_line_and_made_anew_without_it(
    kind, does, planted_index, tmp_path, capsys
):
    (tmp_path / "asked.txt").write_text(f"{ASKED} [CITATION].")
    folder = tmp_path / "lists"
    words = [str(planted_index), str(tmp_path / "asked.txt"), "--store", f"lists:{folder}"]
    assert main(["recommend", *words]) == 0
    expected = capsys.readouterr().out
    [path] = folder.glob(f"*/*.{kind}")
    does(path)
    assert main(["recommend", *words]) == 2
    told = capsys.readouterr().err
    assert "damaged" in told and told.count("\n") == 1
    shutil.rmtree(path.parent)
    assert main(["recommend", *words]) == 0
    assert capsys.readouterr().out == expected


def test_spoilt_keys_lose_papers_and_nothing_else(tmp_path):
    url = f"lists:{tmp_path}"
    filled(url, 200)
    [path] = tmp_path.glob("*/*.faiss")
    damage(path, path.stat().st_size - 1000)
    each = zip(nearest(url), nearest(f"lists:{tmp_path}/whole"), strict=True)
    kept = [np.isin(ours[ours >= 0], theirs).mean() for ours, theirs in each]
    assert np.mean(kept) > 0.9


def test_a_folder_that_cannot_be_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailableError, match="is unavailable"):
        filled(f"lists:{tmp_path}/file", 10)
    filled(f"lists:{tmp_path}", 10)
    [path] = tmp_path.glob("*/*.npy")
    path.write_text("x" * 500)
    with pytest.raises(DamagedError, match=r"1\.npy: damaged"):
        filled(f"lists:{tmp_path}", 11)


def test_papers_that_are_added_and_removed_are_so_there(planted_index, mail, tmp_path):
    index, url = tmp_path / "index", f"lists:{tmp_path}/lists"
    shutil.copytree(planted_index, index)
    for words in ([], ["add", str(index), mail], ["remove", str(index), "mail"]):
        assert not words or main([*words, "--store", url]) == 0
        here, there = (Recommender(index, store) for store in ("", url))
        asked = {"text": ASKED, "ranker": "dense", "top": 20}
        expected, found = ([one.paper_id for one in r.recommend(**asked)] for r in (here, there))
        assert found == expected
        assert ("mail" in found) == (words[:1] == ["add"])


def test_questions_that_lie_far_from_papers_find_their_nearest():
    rng, size = np.random.default_rng(1), 32
    centres = rng.standard_normal((400, size))[rng.integers(400, size=20_000)]
    near = normalized(centres.astype(np.float32)) + 0.05 * rng.standard_normal(centres.shape)
    papers = normalized(near.astype(np.float32))
    far = papers[:200] + 0.7 * rng.standard_normal((200, size))
    questions, keys = normalized(far.astype(np.float32)), np.arange(len(papers))
    lists = inverted.InvertedLists.learn(lambda: iter([(keys, papers)]), len(papers))
    found = lists.search(questions, 60, None, 1.0)
    best = np.argsort(-(questions @ papers.T), axis=1)[:, :10]
    shares = [np.isin(own, rows).mean() for own, rows in zip(best, found, strict=True)]
    assert np.mean(shares) > 0.987
