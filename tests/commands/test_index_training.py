"""Tests of ``index --train``: one command trains on a library, and goes on after a kill."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore
from mpbert.experiments import library_training, outputs
from mpbert.experiments.library_training import READINGS, LibraryTraining
from mpbert.experiments.measured import Measured
from mpbert.experiments.options import TRAINED
from mpbert.experiments.processes import step_environment
from mpbert.foundation.manifest import read_manifest
from mpbert.recommending.directory import read_index
from mpbert.recommending.recommender import Recommender

ROWS = Path(__file__).parents[2] / "eval" / "rows"


@pytest.fixture
def execute(monkeypatch):
    """Let steps run in this process: five others would import torch again and again.

    It returns the names of steps that are stopped, as by SIGTERM.
    """
    stopped: set[str] = set()

    def run_here(step):
        if step.name in stopped:
            return Measured(0.0, 0.0, 0, 143, was_stopped=True)
        outputs._command_of(step).run(outputs._config_of(step))
        return Measured(0.0, 0.0, 0, 0)

    monkeypatch.setattr(library_training, "execute", run_here)
    return stopped


# index, but SIGTERM comes when it is asked whether a step is done
ENDED = """
import os, signal, sys
from mpbert.cli import main
from mpbert.experiments import library_training
library_training.is_done = lambda step: os.kill(os.getpid(), signal.SIGTERM)
sys.exit(main(["index", *sys.argv[1:]]))
"""


@pytest.mark.fairseq
def test_sigterm_between_two_steps_is_one_line_and_143(rfc_archive, tmp_path):
    words = [str(rfc_archive), str(tmp_path / "index"), "--train", "token_bag"]
    program = [sys.executable, "-c", ENDED, *words]
    ended = subprocess.run(program, env=step_environment(), capture_output=True, text=True)
    assert ended.returncode == 143
    assert ended.stderr == "mpbert index: stopped; run this again, and it goes on\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fairseq
@pytest.mark.slow
def test_a_library_is_trained_on_by_one_command_that_goes_on(
    rfc_archive, store, tmp_path, run, execute, forked_trainings
):
    index, place = tmp_path / "index", tmp_path / "index.training"
    words = ["index", rfc_archive, index, "--train"]  # the default: the bag with exact matches
    execute.add("binarize")
    code, _, error = run(*words)
    assert code == 143 and not index.exists() and place.is_dir()
    assert "[2/6] learn a tokenizer: stopped; run this again, and it goes on" in error
    execute.clear()
    code, out, error = run(*words)
    assert code == 0, error
    assert "[1/6] read the papers: finished before" in error
    for said in ("[2/6] learn a tokenizer: ", "[6/6] learn to rank, and build the index: "):
        assert said in error
    assert "120 papers read as rfc" in out and "ranked by token_bag_matches" in out
    assert "that is few to learn from: training pays from about 3,000 on" in out
    assert not place.exists() and list(tmp_path.glob("*index*")) == [index]
    manifest = read_manifest(index)
    assert manifest["command"] == "index" and manifest["counts"]["reader"] == "rfc"
    known = sum(len(store.contexts(split)) for split in SPLITS)
    assert manifest["counts"]["citing_sentences"] == known  # those of validation, too
    data = read_index(index)
    assert data.places is not None and not data.is_foreign
    recommender = Recommender(index)
    for ranker in ("both", "dense"):
        assert len(recommender.recommend("Mail is relayed by hosts", ranker=ranker)) == 10
    assert run("check", index)[0] == 0
    code, out, _ = run(*words)
    assert code == 0 and "exists, reused" in out


def test_what_is_trained_are_rows_of_the_report():
    for name, settings in TRAINED.items():
        row = yaml.safe_load((ROWS / f"{name}.yaml").read_text())
        assert (row["config"], row["readings"]) == ("token_bag", READINGS)
        assert row.get("settings", {}) == settings


def test_after_learning_papers_are_read_with_all_citations(tmp_path):
    training = LibraryTraining(tmp_path / "papers", "tei", "token_bag", tmp_path)
    *_, again, build = (step.words for step in training.further_steps(100))
    known = ("--known", "train", "valid")
    assert again[-4:] == (*known, "--splits") and build[-2:] == ("--known-vectors", again[3])
    assert build[-5:-2] == known and again[3] != build[3]


def test_few_papers_have_few_tokens(tmp_path):
    training = LibraryTraining(tmp_path / "papers", "tei", "token_bag", tmp_path)

    def binarized(num_papers):
        (words,) = [s.words for s in training.further_steps(num_papers) if s.name == "binarize"]
        return words[3:]

    assert binarized(library_training._FEW_PAPERS - 1) == ("--vocab-size", "8000")
    assert binarized(library_training._FEW_PAPERS) == ()


def test_a_service_of_grobid_reads_the_papers_of_the_corpus(tmp_path):
    training = LibraryTraining(tmp_path, "pdf", "token_bag", tmp_path, grobid="http://localhost:1")
    assert training.first_step().words[-2:] == ("--grobid", "http://localhost:1")


def test_a_library_without_citations_is_refused_in_one_line(tmp_path, run):
    library = Path(__file__).parents[1] / "fixtures" / "bibtex" / "library.bib"
    code, _, error = run("index", library, tmp_path / "index", "--train", "token_bag")
    last = error.splitlines()[-1]
    assert code == 2 and "of which none cites another" in last
    assert "index needs none" in last and not (tmp_path / "index").exists()


def test_an_encoder_and_training_are_one_too_many(tmp_path, run):
    code, _, error = run("index", tmp_path, "o", "--train", "token_bag", "--encoder", tmp_path)
    assert code == 2 and "found both; expected one" in error


def test_a_missing_trainer_is_told_before_anything_is_read(tmp_path, run, monkeypatch):
    from mpbert.commands import index as command

    def lacks(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(command, "check_installed", lacks)
    (tmp_path / "papers.bib").write_text("@misc{a, title={A}, abstract={It is.}}")
    words = "index", tmp_path / "papers.bib", tmp_path / "index", "--train", "token_bag"
    code, _, error = run(*words)
    assert code == 2 and "pip install 'mpbert[train]'" in error
    assert not (tmp_path / "index.training").exists()


def test_a_corpus_without_a_test_split_is_built_if_asked_for(tmp_path, run):
    papers = [{"paper_id": "p0", "title": "First", "year": 2000, "abstract": ["It is the first."]}]
    for number in range(1, 40):
        marker = {"start": 12, "end": 15, "cited_ids": [f"p{number - 1}"]}
        cites = {"text": f"It is as in [1], number {number}.", "markers": [marker]}
        sections = [{"heading": "", "sentences": [cites]}]
        papers.append({**papers[0], "paper_id": f"p{number}", "sections": sections})
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    words = ["build-corpus", tmp_path / "papers.jsonl", tmp_path / "corpus"]
    code, _, error = run(*words, "--test-share", "0")
    assert code == 2 and "--test-share needs --split random, found year" in error
    code, _, error = run(*words, "--split", "random", "--test-share", "1")
    assert code == 2 and "--test-share 1; expected 0 or more, less than 1" in error
    assert run(*words, "--split", "random", "--test-share", "0")[0] == 0
    splits = CorpusStore(tmp_path / "corpus").paper_splits.tolist()
    assert (splits.count("train"), splits.count("valid")) == (36, 4)
