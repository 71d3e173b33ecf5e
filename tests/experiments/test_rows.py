import json
from pathlib import Path

import pytest

from mpbert.experiments.rows import (
    choose_rows,
    effective_settings,
    parse_row,
    read_rows,
)
from mpbert.experiments.steps import rerank_steps
from mpbert.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
GOOD = {"title": "BM25", "method": "bm25"}
RECIPE = {
    "title": "Ours",
    "recipe": ["one.sh {corpus}", "two.sh {corpus} ours{variant} {flags}"],
    "run": "runs/trec/{corpus}/ours{variant}",
    "settings": {"--lr": 0.001, "--seed": 1},
    "space": {"--lr": [0.001, 0.003]},
}


def test_a_condition_has_defaults_for_all_but_title_and_method():
    condition = parse_row("bm25", GOOD, "bm25.yaml")
    assert (condition.name, condition.title, condition.note) == ("bm25", "BM25", "")
    assert (condition.expected, condition.settings, condition.similarity) == ({}, {}, "cosine")
    assert condition.is_for("rfc") and not condition.optional and not condition.gpu
    assert condition.run_directory("rfc", {"k1": 3}) == Path("runs/trec/rfc/bm25")
    assert condition.vectors_directory("rfc") == Path("runs/vectors/rfc/bm25")


def test_a_condition_is_for_the_corpora_it_names():
    condition = parse_row("bm25", {**GOOD, "corpora": ["rfc"]}, "bm25.yaml")
    assert condition.is_for("rfc") and not condition.is_for("acl")


def test_settings_of_a_corpus_replace_and_join_those_of_all():
    there = {"rfc": {"k1": 2, "fields": "x"}}
    content = {**GOOD, "settings": {"k1": 1, "b": 1}, "settings_on": there}
    conditions = [parse_row("bm25", content, "bm25.yaml")]
    (rfc,), (acl,) = (choose_rows(conditions, name, []) for name in ("rfc", "acl"))
    assert effective_settings(rfc, {"b": 3}) == {"b": 3, "fields": "x", "k1": 2}
    assert effective_settings(acl, {}) == {"b": 1, "k1": 1}


def test_a_reranker_learns_from_lists_of_words_or_of_the_vectors_of_an_earlier_row(tmp_path):
    content = {**GOOD, "method": "nnrank", "inputs": ["first"], "order": 2}
    for training, words in (
        ({"lexical": "bm25", "fields": "text", "top": 7}, "--lexical bm25 --top 7 --splits train"),
        ({"vectors": "first", "top": 7}, "--vectors runs/vectors/rfc/first --top 7 --splits train"),
    ):
        row = parse_row("x", {**content, "training": training}, "x.yaml")
        lists, rerank = rerank_steps(row, Path("runs/corpus/rfc"), {}, Path("out"))
        assert words in " ".join(lists.words)
        assert lists.words[2] == rerank.words[rerank.words.index("--training") + 1]
        assert ("fields=text" in lists.words) == ("fields" in training)
    (tmp_path / "first.yaml").write_text("title: A\nmethod: bm25\norder: 3\n")
    (tmp_path / "x.yaml").write_text(json.dumps({**content, "inputs": [], "training": training}))
    with pytest.raises(ConfigError, match="takes something of 'first'; expected a row"):
        read_rows(tmp_path)


def test_a_reranker_takes_runs_of_recipes_unless_these_are_tuned(tmp_path):
    recipe = {"title": "A", "recipe": "a.sh {corpus} x{variant} {flags}", "order": 1}
    recipe["run"] = "runs/trec/{corpus}/x{variant}"
    fused = {"title": "B", "method": "fusion", "inputs": ["first"], "order": 2}
    (tmp_path / "first.yaml").write_text(json.dumps(recipe))
    (tmp_path / "second.yaml").write_text(json.dumps(fused))
    row = read_rows(tmp_path)[1]
    assert row.input_directories("rfc") == [Path("runs/trec/rfc/x")]
    (tmp_path / "first.yaml").write_text(json.dumps({**recipe, "space": {"--lr": [1, 2]}}))
    with pytest.raises(ConfigError, match=r"takes something of 'first'; .* recipes without space"):
        read_rows(tmp_path)
    (tmp_path / "first.yaml").write_text(json.dumps(recipe))
    learnt = {"method": "nnrank", "training": {"vectors": "first", "top": 7}}
    (tmp_path / "second.yaml").write_text(json.dumps({**fused, **learnt}))
    with pytest.raises(ConfigError, match="takes something of 'first'"):
        read_rows(tmp_path)


def test_inputs_are_of_the_same_task_and_vectors_come_with_their_settings(tmp_path):
    (tmp_path / "first.yaml").write_text("title: A\nmethod: bm25\norder: 1\n")
    fused = {"title": "B", "method": "nnrank", "inputs": ["first"], "task": "global", "order": 2}
    (tmp_path / "second.yaml").write_text(json.dumps(fused))
    with pytest.raises(ConfigError, match="names 'first', a row of the local task; expected one"):
        read_rows(tmp_path)
    with pytest.raises(ConfigError, match="found settings beside vectors; those of first are in"):
        parse_row("x", {**GOOD, "vectors": "first", "settings": {"dim": 3}}, "x.yaml")


def test_what_a_paper_prints_names_its_corpus_and_numbers():
    good = {"corpus": "AAN", "MRR": 0.3}
    assert parse_row("a", {**GOOD, "published": good}, "a.yaml").published == good
    for wrong in ({"corpus": 3}, {"MRR": "high"}):
        with pytest.raises(ConfigError, match=r"^a.yaml: published, .*expected 'corpus: NAME'"):
            parse_row("a", {**GOOD, "published": wrong}, "a.yaml")


def test_recipes_are_filled_in_and_other_flags_have_directories_of_their_own():
    condition = parse_row("ours", RECIPE, "ours.yaml")
    same = effective_settings(condition, {})
    assert condition.commands("rfc", same) == ["one.sh rfc", "two.sh rfc ours --lr 0.001 --seed 1"]
    assert condition.run_directory("rfc", same) == Path("runs/trec/rfc/ours")
    other = effective_settings(condition, {"--lr": 0.003, "--init": "a b"})
    name = "ours-init-a_b-lr-0.003"
    assert condition.commands("rfc", other)[1] == (
        f"two.sh rfc {name} --init 'a b' --lr 0.003 --seed 1"
    )
    assert condition.run_directory("rfc", other) == Path(f"runs/trec/rfc/{name}")


def test_one_recipe_may_stand_without_a_list():
    content = {"title": "Ours", "recipe": "one.sh {corpus}", "run": "x"}
    assert parse_row("ours", content, "ours.yaml").commands("rfc", {}) == ["one.sh rfc"]


def test_the_conditions_of_this_repository_can_be_read():
    conditions = read_rows(ROOT / "eval" / "rows")
    assert [c.name for c in conditions][:2] == ["chance", "word2vec"]
    assert all((ROOT / line.split()[0]).exists() for c in conditions for line in c.recipe)


def test_conditions_are_chosen_by_corpus_and_name_and_keep_their_order():
    contents = {"a": GOOD, "b": {**GOOD, "corpora": ["acl"]}, "c": GOOD}
    conditions = [parse_row(name, content, name) for name, content in contents.items()]
    assert [c.name for c in choose_rows(conditions, "rfc", [])] == ["a", "c"]
    assert [c.name for c in choose_rows(conditions, "acl", ["c", "b"])] == ["b", "c"]
    with pytest.raises(ConfigError, match="--only b: there is no such row of rfc; expected one of"):
        choose_rows(conditions, "rfc", ["b"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bm25.yaml: found NoneType; expected keys title and method"),
        ({"title": "BM25"}, "bm25.yaml: found neither method nor recipe; expected one of them"),
        ({**GOOD, "recipe": "x.sh"}, "found both method and recipe; expected one of them"),
        ({**GOOD, "run": "here"}, "found run beside method; leave it out, it is runs/trec/CORPUS/"),
        ({"title": "BM25", "recipe": "x.sh"}, "found no run; a recipe needs a line 'run: runs/"),
        ({**GOOD, "seed": 1}, "unknown key 'seed'; expected one of corpora, expected, gpu, inputs"),
        ({**GOOD, "order": "first"}, "order is 'first'; expected int"),
        ({**GOOD, "recipe": 3}, "recipe is 3; expected str or list"),
        ({**GOOD, "corpora": [3]}, "bm25.yaml: corpora holds 3; expected text"),
        ({**GOOD, "similarity": "l2"}, "similarity is 'l2'; expected one of cosine, dot"),
        ({**RECIPE, "similarity": "dot"}, "found similarity beside recipe; it belongs to a"),
        ({**GOOD, "settings": {"k1": [2]}}, "bm25.yaml: settings, k1: found [2]; expected a numb"),
        ({**GOOD, "space": {"k1": 2}}, "bm25.yaml: space, k1: found 2; expected a list of values"),
        ({**GOOD, "space": {"k1": [True]}}, "space, k1: found True; expected a number or a text"),
        ({**RECIPE, "recipe": "x.sh"}, "found settings, but no {flags} in recipe"),
        ({**RECIPE, "run": "here"}, "found space, but not {flags} in recipe and {variant} in run"),
        ({**GOOD, "title": "x" * 41}, "the title has 41 characters; expected one line of at most"),
        ({**GOOD, "expected": {"rfc": 3}}, "bm25.yaml: expected, rfc: found 3; expected 'Recall"),
        (
            {**GOOD, "expected": {"rfc": {"MAP@10 P>=1": 0.5}}},
            "rfc, MAP@10 P>=1: found 0.5; expected [value, tolerance]",
        ),
    ],
)
def test_a_wrong_condition_is_refused(content, message):
    with pytest.raises(ConfigError) as error:
        parse_row("bm25", content, "bm25.yaml")
    assert message in str(error.value)
