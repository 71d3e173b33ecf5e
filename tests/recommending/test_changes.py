"""Tests of ``add`` and ``remove``."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mpbert.cli import main
from mpbert.corpus.store import CorpusStore
from mpbert.foundation import checksums, manifest
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.manifest import claimed
from mpbert.recommending import directory, kept_letters
from mpbert.recommending.directory import read_index
from mpbert.recommending.recommender import Recommender

REPOSITORY = Path(__file__).parents[2]
RELAY = {
    "paper_id": "AA-RELAY",
    "title": "A relay of zebrafish",
    "year": 2021,
    "authors": ["Ann Bee"],
    "abstract": ["Zebrafish relay mail between hosts.", "They do so in order."],
    "sections": [
        {
            "heading": "Mail",
            "sentences": [
                {
                    "text": "Zebrafish follow the mail transfer protocol [1].",
                    "markers": [{"start": 44, "end": 47, "cited_ids": ["CITED", "OUTSIDE"]}],
                },
                {
                    "text": "We and others [2] say so.",
                    "markers": [{"start": 14, "end": 17, "cited_ids": ["AA-RELAY", "ZZ-NAMES"]}],
                },
            ],
        }
    ],
}
NAMES = {"paper_id": "ZZ-NAMES", "title": "Names of zebrafish", "year": 2022, "abstract": ["All."]}


@pytest.fixture
def index(rfc_index, tmp_path):
    return shutil.copytree(rfc_index, tmp_path / "index")


@pytest.fixture
def papers(tmp_path, index):
    """Function of records: writes them as JSON Lines; CITED stands for a paper of the index."""
    cited = Recommender(index).paper_ids[40]

    def write(*records):
        text = "".join(json.dumps(record) + "\n" for record in records)
        path = tmp_path / "papers.jsonl"
        path.write_text(text.replace("CITED", cited), encoding="utf-8")
        return path

    return write


def files(index):
    """Bytes of all data, by name, without the number of the generation."""
    (folder,) = index.glob("data.*")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(capsys, *words):
    code = main([*map(str, words)])
    out, error = capsys.readouterr()
    return code, out, error


@pytest.mark.parametrize("least", [kept_letters.LEAST, 1000])
def test_what_is_added_and_removed_again_leaves_the_same_bytes(
    index, papers, capsys, monkeypatch, least
):
    monkeypatch.setattr(kept_letters, "LEAST", least)  # larger files stay
    before = files(index)
    assert run(capsys, "add", index, papers(RELAY, NAMES))[0] == 0
    between = files(index)
    assert ("papers.abstract.letters.later.npy" in between) == (least == 1000)
    assert main(["check", str(index)]) == 0
    assert all(between[name] != before[name] for name in ("vectors.npy", "papers.digest.npy"))
    code, out, _ = run(capsys, "remove", index, "ZZ-NAMES", "AA-RELAY")
    assert code == 0 and "120 papers, 2 removed" in out
    assert files(index) == before


def test_what_others_say_of_a_removed_paper_is_counted_and_comes_back_with_it(
    index, papers, capsys
):
    both = papers({**RELAY, "sections": [
        {"sentences": [
            {"text": "As [1] says.", "markers": [
                {"start": 3, "end": 6, "cited_ids": ["CITED", "ZZ-NAMES"]}]},
            RELAY["sections"][0]["sentences"][1],
        ]},
    ]}, NAMES)  # fmt: skip
    assert run(capsys, "add", index, both)[0] == 0
    before = files(index)
    code, out, _ = run(capsys, "remove", index, "ZZ-NAMES")
    assert code == 0 and "1 removed and 2 citations of them by others" in out
    relay = both.read_text().splitlines()[0]
    both.write_text(f"{both.read_text()}{relay}\n")  # once more
    code, out, _ = run(capsys, "add", index, both)
    assert code == 0 and "1 of them new, 2 given were there already" in out
    assert files(index) == before


def test_an_added_paper_is_found_and_gives_reasons(index, papers, capsys):
    old = Recommender(index)
    code, out, _ = run(capsys, "add", index, papers(RELAY, NAMES))
    assert code == 0 and "122 papers, 2 of them new" in out
    new = Recommender(index)
    assert new.paper_ids == sorted([*old.paper_ids, "AA-RELAY", "ZZ-NAMES"])
    found = new.recommend("Zebrafish", top=9, ranker="words")
    cited = old.paper_ids[40]  # the sentence that cites it knows the word
    assert {paper.paper_id for paper in found} == {"AA-RELAY", "ZZ-NAMES", cited}
    paper = new.paper("AA-RELAY")
    assert paper.abstract == "Zebrafish relay mail between hosts. They do so in order."
    assert "Bee" in new.bibtex("AA-RELAY")
    question = "Zebrafish follow the mail transfer protocol."
    cited = {p.paper_id: p for p in new.recommend(question, top=122)}[old.paper_ids[40]]
    assert cited.why.citing[0].text == question and cited.why.citing[0].citing_id == "AA-RELAY"
    change = json.loads((index / "manifest.json").read_text())["counts"]["latest_change"]
    assert change["citing_sentences_added"] == 2 and change["papers_added"] == 2
    assert change["citations_of_papers_outside_the_index"] == 1
    assert change["citations_of_the_paper_itself"] == 1


def test_vectors_of_other_papers_stay_and_new_ones_are_those_of_embed(
    index, papers, rfc_corpus, capsys
):
    before = Recommender(index)
    vectors = {i: v.copy() for i, v in zip(before.paper_ids, before.vectors, strict=True)}
    store = CorpusStore(rfc_corpus)
    paper = store.paper(60)
    record = {
        **{"paper_id": paper.paper_id, "title": paper.title, "year": paper.year},
        **{"abstract": paper.abstract, "authors": paper.authors, "venue": paper.venue},
        "sections": [{"sentences": paper.sentences[paper.num_abstract :]}],
    }
    path = papers(record)
    code, out, _ = run(capsys, "add", index, path)  # the very same record
    assert code == 0 and "0 of them new, 1 given were there already" in out
    assert (index / "data.1").exists()
    assert run(capsys, "remove", index, paper.paper_id)[0] == 0
    assert paper.paper_id not in Recommender(index).paper_ids
    assert run(capsys, "add", index, path)[0] == 0
    after = Recommender(index)
    assert after.paper_ids == before.paper_ids
    for paper_id, vector in zip(after.paper_ids, after.vectors, strict=True):
        if paper_id == paper.paper_id:
            np.testing.assert_allclose(vector, vectors[paper_id], atol=1e-5)
        else:
            np.testing.assert_array_equal(vector, vectors[paper_id])


def test_a_removed_paper_is_gone_with_what_it_says(index, capsys):
    recommender = Recommender(index)
    text = "Mail is relayed by hosts that know the names of domains"
    everything = recommender.recommend(text, top=120)
    gone = everything[0].paper_id
    said = {r.citing_id for paper in everything for r in paper.why.citing}
    talker = sorted(said - {gone})[0]
    assert run(capsys, "remove", index, gone, talker)[0] == 0
    left = Recommender(index).recommend(text, top=120)
    assert len(left) == 118
    ids = {paper.paper_id for paper in left} | {r.citing_id for p in left for r in p.why.citing}
    ids |= {companion.paper_id for p in left for companion in p.why.companions}
    assert not ids & {gone, talker}


def test_a_recommender_that_is_open_goes_on_as_it_was(index, papers, capsys):
    recommender = Recommender(index)
    before = recommender.recommend("Zebrafish relay mail", top=120)
    assert run(capsys, "add", index, papers(RELAY))[0] == 0
    assert recommender.recommend("Zebrafish relay mail", top=120) == before


def bad_line(tmp_path, text):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(text)
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"paper_id": "x"}', "found 'title' is a required property"),
        (b'{"paper_id": "x\xe9"}', "found broken UTF-8 at byte 15 of the line"),
        (b"{", "found no JSON"),
    ],
)
def test_broken_records_change_nothing(index, tmp_path, capsys, line, message):
    before = files(index)
    path = bad_line(tmp_path, line)
    code, _, error = run(capsys, "add", index, path)
    assert code == 2 and message in error and error.count("\n") == 1
    assert f"{path}:1" in error
    assert files(index) == before


def test_an_id_that_means_two_papers_is_refused(index, papers, capsys):
    assert run(capsys, "add", index, papers(RELAY))[0] == 0
    before = files(index)
    code, _, error = run(capsys, "add", index, papers({**RELAY, "title": "Another"}, NAMES))
    assert code == 2 and "'AA-RELAY' is in the index with another record" in error
    code, _, error = run(capsys, "add", index, papers(NAMES, {**NAMES, "year": 2020}))
    assert code == 2 and "'ZZ-NAMES' occurs twice" in error
    assert files(index) == before


def test_a_paper_without_text_is_dropped_and_said(index, papers, capsys):
    empty = {"paper_id": "E", "title": "Empty", "year": 2000}
    code, out, _ = run(capsys, "add", index, papers(empty, NAMES))
    assert code == 0 and "1 of them new" in out and "1 without text dropped" in out


def test_unknown_ids_and_the_last_paper_cannot_be_removed(index, capsys):
    before = files(index)
    ids = Recommender(index).paper_ids
    code, _, error = run(capsys, "remove", index, ids[0], "RFC0", "RFC00")
    assert code == 2 and "no paper 'RFC0' among the 120 of the index, nor 1 more" in error
    code, _, error = run(capsys, "remove", index, *ids)
    assert code == 2 and "expected one to stay" in error
    assert files(index) == before


def test_what_is_no_index_cannot_be_changed(tmp_path, papers, capsys):
    path = papers(NAMES)
    assert "expected an index" in run(capsys, "add", tmp_path, path)[2]
    assert "expected an index" in run(capsys, "remove", tmp_path / "none", "x")[2]
    assert not list(tmp_path.glob("*lock"))


def test_papers_that_are_no_file_are_refused(index, tmp_path, capsys):
    code, _, error = run(capsys, "add", index, tmp_path / "none.jsonl")
    assert code == 2 and "none.jsonl: no such file" in error


def test_a_full_disk_leaves_the_index_as_it_was(index, papers, capsys, monkeypatch):
    before, path, save, calls = files(index), papers(RELAY), directory.save_arrays, []

    def full(folder, arrays):
        calls.append(folder)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        return save(folder, arrays)

    monkeypatch.setattr(directory, "save_arrays", full)
    code, _, error = run(capsys, "add", index, path)
    assert code == 2 and re.search(
        r"cannot be changed \(No space left on device: about as much again as the [\d.]+ MB of "
        r"data.1 is needed, [\d,.]+ MB are free\); it is as it was, free space and try again",
        error,
    )
    assert files(index) == before and len(Recommender(index).paper_ids) == 120


def test_a_disk_that_is_full_at_the_manifest_leaves_the_index_as_it_was(
    index, papers, capsys, monkeypatch
):
    before, path = files(index), papers(RELAY)

    def half(file, data):
        file.write_text(data[:50].decode())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", half)
        assert run(capsys, "add", index, path)[0] == 2
    assert files(index) == before and not list(index.glob("*.partial"))


@pytest.mark.parametrize("moment", ["write_data", "replace_manifest"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_one_generation(index, papers, capsys, monkeypatch, moment, number):
    before, act = files(index), getattr(directory, moment)

    def signalled(*arguments):
        act(*arguments)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(directory, moment, signalled)
    assert run(capsys, "add", index, papers(RELAY))[0] == 128 + number
    is_made = moment == "replace_manifest"
    assert (files(index) == before) == (not is_made)  # of one generation
    assert len(Recommender(index).paper_ids) == 120 + is_made


def test_an_index_that_is_changed_while_it_is_checked_is_checked_again(index, monkeypatch, capsys):
    first, checked = Recommender(index).paper_ids[0], manifest.fingerprint

    def late(path):
        monkeypatch.setattr(manifest, "fingerprint", checked)
        assert main(["remove", str(index), first]) == 0
        return checked(path)

    monkeypatch.setattr(manifest, "fingerprint", late)
    code, out, error = run(capsys, "check", index)
    assert (code, error) == (0, "") and "as they were written" in out


@pytest.mark.parametrize("quick", [1 << 30, 1000])
@pytest.mark.parametrize("name", ["papers.title.letters.npy", "word_offsets.npy"])
def test_a_damaged_index_is_not_changed(index, papers, capsys, monkeypatch, name, quick):
    monkeypatch.setattr(checksums, "QUICK", quick)  # larger files have other checksums
    assert run(capsys, "add", index, papers(RELAY))[0] == 0
    sums = manifest.read_manifest(index)["files"].values()
    assert any(map(manifest.is_fast, sums)) == (quick == 1000)
    file = index / "data.2" / name
    file.write_bytes(file.read_bytes()[:-1] + b"~")
    before = files(index)
    code, _, error = run(capsys, "add", index, papers(NAMES))
    assert code == 2 and f"data.2/{name}: found other bytes than were written" in error
    assert files(index) == before


# what a process executes that is killed at a moment of its change
KILLED = """
import os, shutil, signal, sys
from mpbert.cli import main
from mpbert.recommending import directory
where = shutil if sys.argv[1] == "rmtree" else directory
target = getattr(where, sys.argv[1])
def killed(*arguments, **named):
    if sys.argv[1] == "write_data":
        target(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(where, sys.argv[1], killed)
main(["remove", *sys.argv[2:]])
"""


@pytest.mark.parametrize("moment", ["write_data", "replace_manifest", "rmtree"])
def test_a_killed_change_is_made_or_not_made(index, papers, capsys, moment):
    ids = Recommender(index).paper_ids
    command = [sys.executable, "-c", KILLED, moment, str(index), ids[0]]
    assert subprocess.run(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL).returncode == -9
    assert len(list(index.glob("data.*"))) == 2
    is_made = moment == "rmtree"
    assert Recommender(index).paper_ids == ids[is_made:]
    assert run(capsys, "remove", index, ids[1])[0] == 0
    assert Recommender(index).paper_ids == [*ids[: 1 - is_made], *ids[2:]]
    assert len(list(index.glob("data.*"))) == 1


@pytest.mark.parametrize("name", ["index", "link"])
def test_two_processes_do_not_change_an_index_at_once(index, papers, tmp_path, capsys, name):
    (tmp_path / "link").symlink_to(index)
    with claimed(index):
        code, _, error = run(capsys, "add", tmp_path / name, papers(NAMES))
    assert code == 2 and "another process is writing it" in error
    assert len(Recommender(index).paper_ids) == 120


def test_what_an_index_learnt_is_not_lost_where_it_is_changed_while_it_is_read(
    matching, tmp_path, monkeypatch
):
    index, read = shutil.copytree(matching.index, tmp_path / "index"), directory.read_learnt
    first, changed = read_index(index).tables.papers["paper_id"].tolist()[0], []

    def change_first(folder, known, of):
        if not changed:
            changed.append(folder)
            assert main(["remove", str(index), first]) == 0
        return read(folder, known, of)

    monkeypatch.setattr(directory, "read_learnt", change_first)
    found = read_index(index)
    assert changed and found.generation == 2 and found.places is not None


def test_an_index_that_is_changed_while_it_is_read_is_read_again(
    index, papers, monkeypatch, capsys
):
    path, read_table = papers(NAMES), directory.read_table

    def late(*asked):
        monkeypatch.setattr(directory, "read_table", read_table)
        assert main(["add", str(index), str(path)]) == 0
        return read_table(*asked)

    monkeypatch.setattr(directory, "read_table", late)
    assert read_index(index).generation == 2


def test_a_vector_of_nan_is_not_added(index, papers, capsys, monkeypatch):
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)  # an encoder that was so made
    before = files(index)
    file = index / "encoder" / "model.safetensors"
    weights = load_file(file)
    save_file({name: value * np.nan for name, value in weights.items()}, file)
    code, _, error = run(capsys, "add", index, papers(NAMES))
    assert code == 2 and "gives paper 'ZZ-NAMES' a vector of NaN" in error
    with pytest.raises(EncoderError, match="gives this manuscript a vector of NaN"):
        Recommender(index).recommend("Names are resolved.")
    assert files(index) == before
