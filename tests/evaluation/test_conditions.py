from pathlib import Path

import pytest

from mpbert.errors import ConfigError
from mpbert.evaluation.conditions import (
    choose_conditions,
    effective_settings,
    parse_condition,
    read_conditions,
)

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
    condition = parse_condition("bm25", GOOD, "bm25.yaml")
    assert (condition.name, condition.title, condition.note) == ("bm25", "BM25", "")
    assert (condition.expected, condition.settings, condition.similarity) == ({}, {}, "cosine")
    assert condition.is_for("rfc") and not condition.optional and not condition.gpu
    assert condition.run_directory("rfc", {"k1": 3}) == Path("runs/trec/rfc/bm25")
    assert condition.vectors_directory("rfc") == Path("runs/vectors/rfc/bm25")


def test_a_condition_is_for_the_corpora_it_names():
    condition = parse_condition("bm25", {**GOOD, "corpora": ["rfc"]}, "bm25.yaml")
    assert condition.is_for("rfc") and not condition.is_for("acl")


def test_recipes_are_filled_in_and_other_flags_have_directories_of_their_own():
    condition = parse_condition("ours", RECIPE, "ours.yaml")
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
    assert parse_condition("ours", content, "ours.yaml").commands("rfc", {}) == ["one.sh rfc"]


def test_the_conditions_of_this_repository_can_be_read():
    conditions = read_conditions(ROOT / "eval" / "conditions")
    assert [c.name for c in conditions][:2] == ["chance", "word2vec"]
    assert all((ROOT / line.split()[0]).exists() for c in conditions for line in c.recipe)


def test_conditions_are_chosen_by_corpus_and_name_and_keep_their_order():
    contents = {"a": GOOD, "b": {**GOOD, "corpora": ["acl"]}, "c": GOOD}
    conditions = [parse_condition(name, content, name) for name, content in contents.items()]
    assert [c.name for c in choose_conditions(conditions, "rfc", [])] == ["a", "c"]
    assert [c.name for c in choose_conditions(conditions, "acl", ["c", "b"])] == ["b", "c"]
    with pytest.raises(ConfigError, match="--only b: there is no such row of rfc; expected one of"):
        choose_conditions(conditions, "rfc", ["b"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bm25.yaml: found NoneType; expected keys title and method"),
        ({"title": "BM25"}, "bm25.yaml: found neither method nor recipe; expected one of them"),
        ({**GOOD, "recipe": "x.sh"}, "found both method and recipe; expected one of them"),
        ({**GOOD, "run": "here"}, "found run beside method; leave it out, it is runs/trec/CORPUS/"),
        ({"title": "BM25", "recipe": "x.sh"}, "found no run; a recipe needs a line 'run: runs/"),
        ({**GOOD, "seed": 1}, "unknown key 'seed'; expected one of corpora, expected, gpu, method"),
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
        parse_condition("bm25", content, "bm25.yaml")
    assert message in str(error.value)
