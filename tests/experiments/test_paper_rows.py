"""Rows of the papers' configurations, for a GPU: each runs here, with one layer and ten updates."""

from pathlib import Path

import pytest
import yaml

from mpbert.cli import main
from mpbert.commands import make_rows
from mpbert.experiments import making
from mpbert.experiments.measured import Measured
from mpbert.experiments.row_files import read_rows
from mpbert.experiments.rows import with_needs
from mpbert.foundation.manifest import read_manifest

ROOT = Path(__file__).parents[2]
ROWS = {row.name: row for row in read_rows(ROOT / "eval" / "rows")}
PAPERS = sorted(row.name for row in ROWS.values() if row.gpu and "_paper" in row.name)
MODEL = {"dim": 16, "ffn_dim": 16, "num_heads": 2, "sentence_layers": 1, "document_layers": 1}
TEXTS = {"model": "random:1x32", "vocab_size": 400, "paper_tokens": 16}
SMALLER = {  # settings that go over those of the row, by method
    "cross_encoder": {**TEXTS, "query_tokens": 16, "depth": 10},
    "hatten": {"dim": 16, "heads": 2, "hidden": 16, "longest": 20, "word_epochs": 1, "loops": 1}
    | {"updates": 10, "mined": 100, "prefetched": 10},
    "dual_lcr": {"dim": 16, "hidden": 8, "author_dim": 4, "word_epochs": 1, "longest": 24}
    | {"epochs": 1, "batch": 83, "depth": 10},  # 823 pairs
    "sbert": {**TEXTS, "context_tokens": 16, "epochs": 1, "max_positives": 80},
}
BATCH = 13  # queries of an update of the cross-encoder, where the row says no other
# where the number of updates is told, if not with the vectors
PLACES = {"mp_bert4cr": "encoders", "cross_encoder": "trec", "dual_lcr": "trec"}
pytestmark = pytest.mark.slow


def _smaller(name):
    """Return what stands in the row's file, with a model of one layer that is trained shortly."""
    content = yaml.safe_load((ROOT / "eval" / "rows" / f"{name}.yaml").read_text())
    settings = {**content.get("settings", {}), **SMALLER.get(content["method"], {})}
    if content["method"] == "cross_encoder":
        settings["max_queries"] = 5 * settings.get("batch", BATCH)  # there are 76 whole papers
        settings["epochs"] = 2
    if "model" in settings:
        content.pop("pretrained_on", None)
    if content["method"] == "mp_bert4cr":
        content["vocab_size_on"] = {"rfc": 400}
    return {**content, "settings": settings}


def _shorten(file, stage):
    """Return the configuration of a stage with smaller sizes and ten updates."""
    content = yaml.safe_load(file.read_text())
    content["model"] |= MODEL | ({"decoder_layers": 1} if stage == "pretrain" else {})
    content["training"] |= {"max_update": 10, "save_interval_updates": 100, "max_valid": 10}
    content["training"]["batch_tokens"] = 8192
    return content


@pytest.fixture(scope="module")
def made(rfc_corpus, forked_trainings, tmp_path_factory):
    """Root of the outputs of all these rows, each step made in this process."""
    place = tmp_path_factory.mktemp("papers")
    for stage in ("pretrain", "finetune"):
        (place / stage / "configs").mkdir(parents=True)
        content = _shorten(ROOT / stage / "configs" / "paper.yaml", stage)
        (place / stage / "configs" / "paper.yaml").write_text(yaml.safe_dump(content))
    (place / "rows").mkdir()
    for name in with_needs(list(ROWS.values()), set(PAPERS)):
        (place / "rows" / f"{name}.yaml").write_text(yaml.safe_dump(_smaller(name)))

    def execute(step, log, beside):
        return Measured(1.0, 1.0, 1, main(list(step.words)), "see above")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "execute", execute)
        words = (rfc_corpus, place / "rows", place / "out", tuple(PAPERS))
        make_rows.run(make_rows.Config(*words, configs=place))
    return place / "out"


def test_there_are_rows_of_six_systems():
    methods = {ROWS[name].method for name in PAPERS}
    assert methods == {"cross_encoder", "dual_lcr", "hatten", "mp_bert4cr", "navigation", "sbert"}


@pytest.mark.fairseq
@pytest.mark.parametrize("name", PAPERS)
def test_a_row_of_a_paper_is_trained_with_ten_updates_and_ranks(made, name):
    run = made / "trec" / "rfc" / name
    assert len((run / "test.run").read_text().splitlines()) > 100
    if ROWS[name].method == "navigation":  # which learns nothing
        return
    folder = PLACES.get(ROWS[name].method, "vectors")
    assert read_manifest(made / folder / "rfc" / name)["counts"]["updates"] == 10


@pytest.mark.fairseq
def test_its_pretraining_had_ten_updates(made):
    encoder = made / "encoders" / "rfc" / "paper-pretrained"
    assert read_manifest(encoder)["counts"]["updates"] == 10
