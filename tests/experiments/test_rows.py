from pathlib import Path

import pytest

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.rows import choose_rows, effective_settings, with_needs
from mpbert.experiments.tuning import Tuned, TunedRow
from mpbert.foundation.errors import ConfigError

GOOD = {"title": "BM25", "method": "bm25"}
OURS = {"title": "Ours", "method": "mp_bert4cr", "config": "token_bag", "settings": {"lr": 0.001}}


def _rows(**contents):
    return [parse_row(name, content, name) for name, content in contents.items()]


def _experiment(tuned=None, **contents):
    rows = _rows(**contents)
    return Experiment.of(rows, Path("data/rfc"), Layout(Path("out")), tuned or Tuned(), Path())


def test_a_row_has_defaults_for_all_but_title_and_method():
    (row,) = _rows(bm25=GOOD)
    assert (row.name, row.title, row.note) == ("bm25", "BM25", "")
    assert (row.settings, row.similarity) == ({}, "cosine")
    assert row.is_for("rfc") and not row.optional and not row.gpu


def test_a_row_is_made_by_itself_on_the_corpora_it_names():
    (row,) = _rows(bm25={**GOOD, "corpora": ["rfc"]})
    assert row.is_for("rfc") and not row.is_for("acl")


def test_settings_of_a_corpus_replace_and_join_those_of_all():
    there = {"rfc": {"k1": 2, "fields": "x"}}
    rows = _rows(bm25={**GOOD, "settings": {"k1": 1, "b": 1}, "settings_on": there})
    (rfc,), (acl,) = (choose_rows(rows, name, []).rows for name in ("rfc", "acl"))
    assert effective_settings(rfc, {"b": 3}) == {"b": 3, "fields": "x", "k1": 2}
    assert effective_settings(acl, {}) == {"b": 1, "k1": 1}


def test_without_names_the_rows_of_other_corpora_are_left_out_and_counted():
    rows = _rows(a=GOOD, b={**GOOD, "corpora": ["acl"]}, c=GOOD)
    choice = choose_rows(rows, "rfc", [])
    assert [row.name for row in choice.rows] == ["a", "c"]
    assert (choice.others, choice.needed, choice.named) == (1, [], frozenset())


def test_a_row_that_is_named_is_made_on_any_corpus():
    rows = _rows(a=GOOD, b={**GOOD, "corpora": ["acl"]})
    choice = choose_rows(rows, "rfc", ["b"])
    assert [row.name for row in choice.rows] == ["b"]
    assert (choice.others, choice.named) == (0, {"b"})
    with pytest.raises(ConfigError, match=r"--only bb: there is no such row; .* did you mean 'b'"):
        choose_rows(rows, "rfc", ["bb"])


def test_what_a_row_needs_is_made_with_it_through_others_and_in_order():
    reranker = {"title": "B", "method": "nnrank"}
    rows = _rows(
        first={**GOOD, "corpora": ["acl"]},
        other=GOOD,
        lists={"title": "L", "method": "hatten"},
        second={**reranker, "inputs": ["first"]},
        third={**reranker, "inputs": ["second"], "training": {"vectors": "lists"}},
    )
    choice = choose_rows(rows, "rfc", ["third"])
    assert [row.name for row in choice.rows] == ["first", "lists", "second", "third"]
    assert choice.needed == ["first", "lists", "second"]
    assert choice.named == {"first", "lists", "second", "third"}
    assert choose_rows(rows, "rfc", []).needed == ["first"]
    assert with_needs(rows, {"second"}) == {"first", "second"}


def test_outputs_bear_the_name_of_the_row_below_the_root():
    experiment = _experiment(bm25=GOOD, ours=OURS)
    variant = experiment.variant("bm25")
    assert experiment.runs(variant) == Path("out/trec/rfc/bm25")
    assert experiment.vectors(variant) == Path("out/vectors/rfc/bm25")
    assert experiment.cost(variant) == Path("out/cost/rfc/bm25.jsonl")
    assert experiment.runs(experiment.variant("ours")) == Path("out/trec/rfc/ours")


def test_other_settings_of_our_model_and_other_seeds_have_directories_of_their_own():
    chosen = {"lr": 0.003, "init": "a b"}
    rows = {name: TunedRow(chosen, 0.2, 0.1, 2, 3, 0.1) for name in ("ours", "bm25")}
    experiment = _experiment(Tuned(None, rows), bm25=GOOD, ours=OURS)
    assert experiment.variant("ours").name == "ours-init-a_b-lr-0.003"
    assert experiment.variant("ours", seed=2).name == "ours-init-a_b-lr-0.003-seed-2"
    assert experiment.variant("bm25", seed=3).name == "bm25-seed-3"


def test_vectors_of_another_row_are_those_of_its_chosen_settings_and_of_the_same_seed():
    nested = {"title": "N", "method": "mp_bert4cr", "vectors": "ours", "dim": 64}
    tuned = Tuned(None, {"ours": TunedRow({"lr": 3}, 0.2, 0.1, 2, 3, 0.1)})
    experiment = _experiment(tuned, ours=OURS, nested=nested)
    variant = experiment.variant("nested", seed=2)
    assert experiment.vectors(variant) == Path("out/vectors/rfc/ours-lr-3-seed-2")
    assert experiment.runs(variant) == Path("out/trec/rfc/nested-seed-2")


def test_every_output_has_its_place_below_the_root():
    layout = Layout(Path("out"))
    assert layout.binarized("rfc") == Path("out/binarized/rfc")
    assert layout.pretrained("rfc", "tiny") == Path("out/pretrained/rfc/tiny")
    assert layout.pretrained_encoder("rfc", "tiny") == Path("out/encoders/rfc/tiny-pretrained")
    assert layout.finetuned("rfc", "bag") == Path("out/finetuned/rfc/bag")
    assert layout.encoder("rfc", "bag") == Path("out/encoders/rfc/bag")
    assert layout.tuning("rfc", "bag") == Path("out/tuning/rfc/bag")
