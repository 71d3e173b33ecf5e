import json
from pathlib import Path

import pytest

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import configs_beside, parse_row, read_rows
from mpbert.experiments.rows import PretrainedOn
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
GOOD = {"title": "BM25", "method": "bm25"}
OURS = {"title": "Ours", "method": "mp_bert4cr", "config": "token_bag", "settings": {"lr": 0.001}}


def _write(folder, **contents):
    for name, content in contents.items():
        (folder / f"{name}.yaml").write_text(json.dumps(content))


def test_the_rows_of_this_repository_can_be_read():
    rows = read_rows(ROOT / "eval" / "rows")
    assert rows[0].name == "chance"
    assert [row.order for row in rows] == sorted(row.order for row in rows)
    by_name = {row.name: row for row in rows}
    assert by_name["token_bag"].is_for("mine") and by_name["token_bag"].readings == 5
    tiny = by_name["mp_bert4cr_tiny_mpt_tgt"]
    assert (tiny.config, tiny.pretrained, tiny.settings) == (
        "tiny",
        "tiny",
        {"objective": "mpt-tgt"},
    )
    assert tiny.vocab_size_on == {"rfc": 8000}
    assert tiny.appendix and not tiny.is_for("rfc") and not by_name["token_bag"].appendix
    needed = {name for row in rows if not row.appendix for name in row.needs}
    assert not [name for name in needed if by_name[name].appendix]


def test_rows_of_an_appendix_are_made_where_they_are_named(tmp_path):
    _write(tmp_path, first={**OURS, "order": 1})
    second = {"base": "first", "title": "B", "order": 2, "corpora": ["mine"]}
    _write(tmp_path, appendix={"second": second})
    first, second = read_rows(tmp_path)
    assert [row.is_for("mine") for row in (first, second)] == [True, False]
    assert second.config == first.config


def test_the_ablations_of_this_repository_differ_from_the_token_bag():
    rows = {row.name: row for row in read_rows(ROOT / "eval" / "ablations.yaml")}
    assert len(rows) >= 20  # those that docs/results tells of
    assert all(row.vocab_size_on == {"rfc": 8000} for row in rows.values() if not row.vectors)
    assert rows["bag_dim_128"].settings == {"dim": 128} and rows["bag_dim_128"].readings == 5
    assert rows["bag_own_tables"].settings == {"shared_tokens": "false"}
    assert (rows["bag_nested_256"].vectors, rows["bag_nested_256"].dim) == ("bag_nested", 256)
    for corpus in ("rfc", "acl"):  # settings of a corpus hide none of a row's own
        made = [row.on(corpus) for row in rows.values() if row.is_for(corpus)]
        readings = [(row.settings, row.readings, row.vectors) for row in made]
        assert not [a for i, a in enumerate(readings) if a in readings[:i]]


def test_a_row_takes_over_another_one_and_says_what_is_different(tmp_path):
    base = {**OURS, "order": 1, "note": "n", "readings": 5}
    second = {"base": "first", "title": "B", "settings": {"dim": 3, "lr": 2}, "order": 2}
    third = {"base": "second", "title": "C", "readings": 1, "order": 3}
    _write(tmp_path, first=base, second=second, third=third)
    first, second, third = read_rows(tmp_path)
    assert (second.config, second.settings) == ("token_bag", {"lr": 2, "dim": 3})
    assert (second.note, second.readings) == ("", 5)
    assert (third.settings, third.readings) == ({"lr": 2, "dim": 3}, 1)
    assert first.settings == {"lr": 0.001}


def test_a_file_may_hold_several_rows_and_take_over_one_of_another_file(tmp_path):
    (tmp_path / "rows").mkdir()
    _write(tmp_path / "rows", bag=OURS)
    several = {"bag": {"base": "rows/bag", "title": "A", "order": 1}}
    several["small"] = {"base": "bag", "title": "B", "settings": {"dim": 2}, "order": 2}
    _write(tmp_path, several=several)
    rows = read_rows(tmp_path / "several.yaml")
    assert [(row.name, row.title) for row in rows] == [("bag", "A"), ("small", "B")]
    assert rows[1].settings == {"lr": 0.001, "dim": 2}
    several["small"]["titel"] = "x"
    _write(tmp_path, several=several)
    with pytest.raises(ConfigError, match=r"several.yaml, small: unknown key 'titel'"):
        read_rows(tmp_path / "several.yaml")


def test_a_base_that_is_not_there_or_leads_back_is_refused(tmp_path):
    _write(tmp_path, a={"base": "c", "title": "A"})
    with pytest.raises(ConfigError, match=r"a.yaml: base is 'c'; expected one of a, or a path"):
        read_rows(tmp_path)
    _write(tmp_path, a={"base": "b", "title": "A"}, b={"base": "a", "title": "B"})
    with pytest.raises(ConfigError, match="expected the name of another row that is not based on"):
        read_rows(tmp_path)
    _write(tmp_path, a={"base": 3, "title": "A"}, b=GOOD)
    with pytest.raises(ConfigError, match="base is 3; expected the name of another row"):
        read_rows(tmp_path)


def test_two_rows_of_one_name_are_refused(tmp_path):
    _write(tmp_path, a=GOOD, b={"a": GOOD, "c": GOOD})
    with pytest.raises(ConfigError, match=r"b.yaml, a: there is a row of this name in .*a.yaml"):
        read_rows(tmp_path)


def test_a_row_stands_after_those_it_takes_something_of(tmp_path):
    content = {"title": "B", "method": "nnrank", "inputs": [], "order": 2}
    _write(tmp_path, first={**GOOD, "order": 3})
    for change in ({"inputs": ["first"]}, {"training": {"vectors": "first"}}, {"inputs": ["x"]}):
        _write(tmp_path, second={**content, **change})
        with pytest.raises(ConfigError, match=r"second.yaml: takes something of '(first|x)'; expe"):
            read_rows(tmp_path)


def test_inputs_are_of_the_same_task_and_vectors_come_with_their_settings(tmp_path):
    fused = {"title": "B", "method": "nnrank", "inputs": ["first"], "task": "global", "order": 2}
    _write(tmp_path, first={**GOOD, "order": 1}, second=fused)
    with pytest.raises(ConfigError, match="names 'first', a row of the local task; expected one"):
        read_rows(tmp_path)
    with pytest.raises(ConfigError, match="found settings beside vectors; those of first are in"):
        parse_row("x", {**GOOD, "vectors": "first", "settings": {"dim": 3}}, "x.yaml")


def test_the_run_of_another_system_lies_beside_the_file_of_its_row(tmp_path):
    (tmp_path / "rows").mkdir()
    of_each = {"title": "A", "run": "../theirs/{split}.run"}
    _write(tmp_path / "rows", a=of_each, b={"base": "a", "title": "B", "run": "b.run"})
    a, b = read_rows(tmp_path / "rows")
    assert a.given_run("valid") == tmp_path / "rows" / "../theirs/valid.run"
    assert a.given_run("test") == tmp_path / "rows" / "../theirs/test.run"
    assert b.given_run("test") == tmp_path / "rows" / "b.run"
    assert b.given_run("valid") is None
    fused = {"title": "C", "method": "fusion", "inputs": ["a", "b"]}
    _write(tmp_path / "rows", c=fused)
    with pytest.raises(ConfigError, match=r"c.yaml: takes something of 'a', whose run another"):
        read_rows(tmp_path / "rows")


def test_what_a_paper_prints_names_its_corpus_and_numbers():
    good = {"corpus": "AAN", "MRR": 0.3}
    assert parse_row("a", {**GOOD, "published": good}, "a.yaml").published == good
    for wrong in ({"corpus": 3}, {"MRR": "high"}):
        with pytest.raises(ConfigError, match=r"^a.yaml: published, .*expected 'corpus: NAME'"):
            parse_row("a", {**GOOD, "published": wrong}, "a.yaml")


def test_what_a_ready_made_model_has_read_is_a_text_and_answers_by_corpus():
    given = {"texts": "Wikipedia\n  and books", "holds_test": {"acl": "maybe", "rfc": False}}
    found = parse_row("a", {**GOOD, "pretrained_on": given}, "a.yaml").pretrained_on
    assert found == PretrainedOn("Wikipedia and books", {"acl": "maybe", "rfc": "no"})
    for wrong, message in (
        ({"texts": "x"}, r"expected '{texts: Wikipedia, holds_test"),
        ({**given, "texts": " "}, r"expected '{texts: Wikipedia, holds_test"),
        ({**given, "year": 2019}, r"expected '{texts: Wikipedia, holds_test"),
        ({**given, "holds_test": ["acl"]}, "holds_test: found .*; expected names"),
        (
            {**given, "holds_test": {"acl": "perhaps"}},
            "holds_test, acl: found 'perhaps'; expected one of yes, maybe, no",
        ),
    ):
        with pytest.raises(ConfigError, match=f"^a.yaml: pretrained_on.*{message}"):
            parse_row("a", {**GOOD, "pretrained_on": wrong}, "a.yaml")


def test_configurations_are_looked_for_two_folders_above_the_rows(tmp_path, monkeypatch):
    assert configs_beside(Path("eval/rows")) == Path(".")
    assert configs_beside(Path("/a/eval/ablations.yaml")) == Path("/a")
    monkeypatch.chdir(tmp_path)
    assert configs_beside(Path("rows")) == tmp_path.parent


def test_a_space_is_taken_over_but_not_by_a_row_with_the_vectors_of_another(tmp_path):
    (tmp_path / "first.yaml").write_text(
        "{title: A, method: chance, space: {dim: [4, 8]}, developed: {rfc: 1.5}}"
    )
    (tmp_path / "second.yaml").write_text("{base: first, title: B, order: 2000}")
    (tmp_path / "third.yaml").write_text("{base: first, title: C, vectors: first, order: 2000}")
    first, second, third = read_rows(tmp_path)
    assert first.space == second.space == {"dim": (4, 8)}
    assert third.space == {}
    assert (first.developed, second.developed) == ({"rfc": 1.5}, {})
    with pytest.raises(ConfigError, match="found space beside vectors; first is tuned instead"):
        parse_row("x", {**GOOD, "vectors": "first", "settings": {}, "space": {"k1": [1]}}, "x")


def test_without_rows_the_error_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"found no \*.yaml; expected one file per row"):
        read_rows(tmp_path)
    with pytest.raises(ConfigError, match=r"none.yaml: unreadable \(No such file or directory\)"):
        read_rows(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bm25.yaml: found NoneType; expected keys title, method"),
        ({"title": "BM25"}, "bm25.yaml: found no method; expected a line 'method: ...'"),
        ({"method": "bm25"}, "bm25.yaml: found no title; expected a line 'title: ...'"),
        ({**GOOD, "seed": 1}, "unknown key 'seed'; expected one of base, config, corpora, dev"),
        ({**GOOD, "recipe": "x.sh"}, "unknown key 'recipe'"),
        ({**GOOD, "run": "x.run"}, "found method beside run, which another system has made; exp"),
        ({"title": "x", "run": "a", "space": {"k": [1]}}, "found space beside run, which another"),
        ({"title": "x", "run": " "}, "bm25.yaml: run is empty; expected a file, such as theirs.r"),
        ({"run": "x.run"}, "bm25.yaml: found no title; expected a line 'title: ...'"),
        ({**GOOD, "order": "first"}, "order is 'first'; expected int"),
        ({**GOOD, "order": True}, "order is True; expected int"),
        ({**GOOD, "top": 0}, "bm25.yaml: top is 0; expected a whole number of 1 or more"),
        ({**GOOD, "corpora": [3]}, "bm25.yaml: corpora holds 3; expected text"),
        ({**GOOD, "similarity": "l2"}, "similarity is 'l2'; expected one of cosine, dot"),
        ({**GOOD, "task": "all"}, "task is 'all'; expected one of global, local"),
        ({**GOOD, "config": "tiny"}, "found config; it belongs to method mp_bert4cr"),
        ({**GOOD, "start": "bag"}, "found start; it belongs to method mp_bert4cr"),
        ({**GOOD, "vocab_size_on": {"rfc": "x"}}, "vocab_size_on, rfc is 'x'; expected a whole"),
        ({**OURS, "start": "bag", "pretrained": "tiny"}, "found start and pretrained; expected on"),
        ({**OURS, "similarity": "dot"}, "found similarity; mp_bert4cr has none, leave it out"),
        ({**OURS, "task": "global"}, "task is global; mp_bert4cr embeds contexts, leave it out"),
        ({"title": "x", "method": "mp_bert4cr"}, "found no config; mp_bert4cr needs a line"),
        ({**GOOD, "settings": {"k1": [2]}}, "bm25.yaml: settings, k1: found [2]; expected a numb"),
        ({**GOOD, "space": {"k1": 2}}, "bm25.yaml: space, k1: found 2; expected a list of values"),
        ({**GOOD, "space": {"k1": [True]}}, "space, k1: found True; expected a number or a text"),
        ({**GOOD, "developed": {"rfc": 0}}, "developed, rfc: found 0; expected a number of CPU h"),
        ({**GOOD, "developed": {"rfc": True}}, "developed, rfc: found True; expected a number"),
        ({**GOOD, "title": "x" * 41}, "the title has 41 characters; expected one line of at most"),
    ],
)
def test_a_wrong_row_is_refused(content, message):
    with pytest.raises(ConfigError) as error:
        parse_row("bm25", content, "bm25.yaml")
    assert message in str(error.value)


def test_a_configuration_that_lacks_beside_the_rows_is_that_of_the_package(tmp_path):
    experiment = Experiment.of([], Path("corpus"), Layout(tmp_path), Tuned(), tmp_path)
    assert experiment.config_file("finetune", "token_bag").is_file()
    own = tmp_path / "finetune" / "configs" / "token_bag.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("dim: 8\n")
    assert experiment.config_file("finetune", "token_bag") == own
    assert experiment.config_file("finetune", "none") == own.with_name("none.yaml")
