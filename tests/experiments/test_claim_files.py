import math
import re
from pathlib import Path

import pytest
import yaml

from mpbert.experiments.claim_files import claims_of_task, read_claims
from mpbert.experiments.paper_table_files import read_paper_tables
from mpbert.experiments.row_files import parse_row, read_rows
from mpbert.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
CLAIM = {
    **{"paper": "P", "where": "Table 1", "claim": "A is above B.", "better": "a", "than": "b"},
    "measure": "MAP@10",
}
TABLE = {
    **{"paper": "P", "title": "Table 1", "corpora": ["acl"], "columns": ["MAP@10 P=1"]},
    "baselines": [{"title": "B", "row": "b", "printed": [10]}],
    "rows": [{"title": "A", "row": "a", "printed": [None], "note": "torn off"}, {"row": "c"}],
}
TABLE["rows"][1]["title"] = "C"


def _read(tmp_path, content, corpus="acl", read=read_claims, name="x"):
    path = tmp_path / "file.yaml"
    path.write_text(yaml.safe_dump({name: content}))
    return read(path, corpus)


def test_a_claim_has_a_default_subset_and_may_have_several(tmp_path):
    [claim] = _read(tmp_path, CLAIM)
    assert (claim.name, claim.text, claim.subset, claim.than) == (
        "x",
        "A is above B.",
        "P>=1",
        ("b",),
    )
    several = _read(tmp_path, {**CLAIM, "than": ["b", "c"], "subset": ["P=1", "rare"]})
    assert [each.subset for each in several] == ["P=1", "rare"]
    assert several[0].rows == ("a", "b", "c")


def test_a_claim_may_name_other_rows_on_a_corpus(tmp_path):
    content = {**CLAIM, "rows_on": {"rfc": {"better": "small"}, "mine": {"than": ["x", "y"]}}}
    found = {corpus: _read(tmp_path, content, corpus)[0] for corpus in ("acl", "rfc", "mine")}
    assert [claim.rows for claim in found.values()] == [("a", "b"), ("small", "b"), ("a", "x", "y")]


def test_a_claim_on_two_gains_names_both_subsets(tmp_path):
    [claim] = _read(tmp_path, {**CLAIM, "more_in": "rare", "less_in": "other"})
    assert claim.cells == [("MAP@10", "rare"), ("MAP@10", "other")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"better": None}, "better is None; expected str"),
        ({"betterr": "a"}, "unknown key 'betterr'; expected one of better, claim,"),
        ({"claim": ""}, "found no claim; expected a line 'claim: ...'"),
        ({"than": 7}, "than is 7; expected str or list"),
        ({"than": []}, r"than is \[\]; expected a row, a list of rows, or lexical"),
        ({"than": ["b", "lexical"]}, "expected a row, a list of rows, or lexical"),
        ({"than": ["b", 1]}, "than holds 1; expected text"),
        ({"than": "a"}, "a is set against itself; name another row"),
        ({"measure": "MAP"}, "measure: unknown measure 'MAP'"),
        ({"measure": "F1@20"}, "measure: F1@20 is a measure of a run, from precision"),
        ({"subset": "P>1"}, "subset is 'P>1'; expected one of P=1, P>=1,"),
        ({"more_in": "rare"}, "found more_in; expected subset, or more_in and less_in"),
        (
            {"subset": "P=1", "more_in": "rare", "less_in": "other"},
            "found subset and more_in and less_in; expected",
        ),
        ({"rows_on": {"rfc": {"measure": "MRR"}}}, "rows_on, rfc: unknown key 'measure'"),
        ({"rows_on": {"rfc": "a"}}, "rows_on, rfc: found str; expected keys"),
    ],
)
def test_a_wrong_claim_is_one_line_with_its_place(tmp_path, change, message):
    with pytest.raises(ConfigError, match=message) as error:
        _read(tmp_path, {**CLAIM, **change})
    assert str(error.value).startswith(f"{tmp_path / 'file.yaml'}, x")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["- a", "", "{", "a: b"])
def test_a_file_that_holds_no_entries_is_an_error(tmp_path, content):
    path = tmp_path / "file.yaml"
    path.write_text(content)
    for read in (read_claims, read_paper_tables):
        with pytest.raises(ConfigError, match=re.escape(str(path))):
            read(path, "acl")
    with pytest.raises(ConfigError, match=r"unreadable \(No such file"):
        read_claims(tmp_path / "none.yaml", "acl")


def test_a_claim_belongs_to_the_task_of_its_rows(tmp_path):
    kinds = {"a": "local", "g": "global", "h": "global"}
    rows = {
        name: parse_row(name, {"title": name, "method": "bm25", "task": task}, name)
        for name, task in kinds.items()
    }
    of_global = {**CLAIM, "better": "g", "than": ["h", "later"], "measure": "Recall@1000"}
    known, unknown = _read(tmp_path, of_global), _read(tmp_path, {**CLAIM, "better": "later"})
    assert claims_of_task([*known, *unknown], rows, "global") == known
    assert claims_of_task([*known, *unknown], rows, "local") == unknown
    mixed = _read(tmp_path, {**CLAIM, "than": "g"})
    with pytest.raises(ConfigError, match=r"claim x: names rows of two tasks: a \(local\), g"):
        claims_of_task(mixed, rows, "local")
    deep = _read(tmp_path, {**CLAIM, "measure": "Recall@101"})
    with pytest.raises(ConfigError, match="claim x: measure is Recall@101; expected a cutoff of a"):
        claims_of_task(deep, rows, "local")


def test_a_papers_table_has_its_baselines_first_and_is_for_its_corpora(tmp_path):
    [table] = _read(tmp_path, TABLE, read=read_paper_tables)
    assert [(row.title, row.is_baseline) for row in table.rows] == [
        ("B", True),
        ("A", False),
        ("C", False),
    ]
    assert table.columns == (("MAP@10", "P=1"),)
    assert table.rows[0].printed == (10.0,) and table.rows[1].note == "torn off"
    assert math.isnan(table.rows[1].printed[0]) and math.isnan(table.rows[2].printed[0])
    assert _read(tmp_path, TABLE, "rfc", read_paper_tables) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": []}, "found no columns; expected a line 'columns: ...'"),
        ({"columns": ["MAP@10"]}, "columns, 'MAP@10': subset is ''; expected one of P=1"),
        ({"columns": ["map P=1"]}, "columns: unknown measure 'map'"),
        ({"rows": ["a"]}, "rows 1: found str; expected keys title, row"),
        ({"rows": [{"title": "A"}]}, "rows 1: found no row; expected a line"),
        (
            {"baselines": [{"title": "B", "row": "b", "printed": [1, 2]}]},
            "baselines 1: printed holds 2 numbers; expected one of each of the 1 columns",
        ),
        (
            {"baselines": [{"title": "B", "row": "b", "printed": ["1"]}]},
            "baselines 1: printed holds '1'; expected percents, or null for none",
        ),
        ({"baselines": [{"title": "B" * 19, "row": "b"}]}, "expected at most 18 characters"),
    ],
)
def test_a_wrong_table_is_one_line_with_its_place(tmp_path, change, message):
    with pytest.raises(ConfigError, match=message) as error:
        _read(tmp_path, {**TABLE, **change}, "rfc", read_paper_tables)
    assert str(error.value).startswith(f"{tmp_path / 'file.yaml'}, x")


@pytest.mark.parametrize("corpus", ["rfc", "acl"])
def test_claims_and_tables_of_this_repository_name_rows_that_there_are(corpus):
    for claims, rows in (("claims", "rows"), ("ablation_claims", "ablations.yaml")):
        known = {row.name: row for row in read_rows(ROOT / "eval" / rows)}
        found = read_claims(ROOT / "eval" / f"{claims}.yaml", corpus)
        for task in ("local", "global"):
            claims_of_task(found, known, task)
        assert {name for claim in found for name in claim.rows} <= {"lexical", *known}
        assert all(claim.text.endswith(".") and claim.where for claim in found)
    tables = read_paper_tables(ROOT / "eval" / "paper_tables.yaml", "acl")
    known = {row.name for row in read_rows(ROOT / "eval" / "rows")}
    unknown = {row.row for table in tables for row in table.rows} - known
    assert not unknown
