import pytest

from mpbert.experiments.page_tables import count_markers, fill_tables, without_tables
from mpbert.foundation.errors import ConfigError


def _report(**rows):
    """Return a report: name to title, Recall, MAP and F1."""
    return {
        "rows": [
            {"name": name, "title": title, "published": {"corpus": "AAN", "MRR": 0.25}}
            for name, (title, *_) in rows.items()
        ],
        "tables": {
            "main": {
                "scores": {
                    name: {"Recall@10 P>=1": {"mean": recall}, "MAP@10 P>=1": {"mean": precision}}
                    for name, (_, recall, precision, _) in rows.items()
                }
            },
            "frequency": {"scores": {name: {"MAP@10 low": {"mean": None}} for name in rows}},
        },
        "of_runs": {"F1@20": {name: f1 for name, (*_, f1) in rows.items()}},
        "seeds": {"b": {"num_seeds": 3, "MAP@10 P>=1": {"mean": 0.29, "half_width": 0.0123}}},
    }


FILES = {
    "rfc.json": _report(a=("A | one", 0.5, 0.3, 0.1), b=("B", 0.4, 0.3, 0.2)),
    "acl.json": _report(b=("B there", 0.1, None, 0.3), c=("C", 0.2, 0.1, 0.2)),
    "rfc.cost.json": {"a": {"cpu_seconds": 1234.5, "peak_mib": 1536, "gpu": True}},
    "rfc.md": "# Report\n\n## Claims of papers, rfc\n\n| | gain |\n|:--|--:|\n| x | +1.00 |\n",
}


def _load(name):
    try:
        return FILES[name]
    except KeyError:
        raise ConfigError(f"{name}: unreadable") from None


def _table(marker, below=""):
    page = f"# Page\n\n<!-- results\n{marker}\n-->\n{below}\nEnd, 12.34.\n"
    found = fill_tables(page, _load, "page.md")
    assert found.endswith("\n\nEnd, 12.34.\n") and found.startswith("# Page\n\n<!-- results\n")
    assert fill_tables(found, _load, "page.md") == found
    assert without_tables(found).split() == ["#", "Page", "End,", "12.34."]
    assert count_markers(found) == 1
    return [line for line in found.splitlines() if line.startswith("|")]


def test_cells_are_scores_in_percent_and_the_largest_of_the_report_is_bold():
    marker = """file: rfc.json
columns:
  P ≥ 1: Recall@10 P>=1 / MAP@10 P>=1
  MAP: MAP@10 P>=1
  F1: F1@20
  low: MAP@10 low"""
    assert _table(marker) == [
        "| | P ≥ 1 | MAP | F1 | low |",
        "|:--|--:|--:|--:|--:|",
        r"| A \| one | **50.00 / 30.00** | **30.00** | 10.00 | - |",
        "| B | 40.00 / 30.00 | **30.00** | **20.00** | - |",
    ]
    assert "**" not in "".join(_table(marker + "\nbold: false"))
    only_b = _table(marker + "\nrows: [b]")  # what is largest is so of the whole report
    assert only_b[2:] == ["| B | 40.00 / 30.00 | **30.00** | **20.00** | - |"]


def test_an_older_table_gives_way_and_other_tables_stay():
    old = "\n| | old |\n|:--|--:|\n| A | 1.00 |\n"
    marker = "file: rfc.json\nrows: [a]\ncolumns: {F1: F1@20}"
    assert _table(marker, old) == ["| | F1 |", "|:--|--:|", r"| A \| one | 10.00 |"]
    page = "| | mine |\n|--|--|\n| x | 9.99 |\n"
    assert fill_tables(page, _load, "page.md") == page


def test_rows_may_be_of_several_files_and_bear_titles_of_the_page():
    marker = """rows: ["a|c: ours", b, "a|c"]
columns:
  here: rfc.json F1@20
  there: acl.json F1@20
bold: false"""
    found = _table(marker.replace('"a|c: ours"', "a|c: ours"))
    assert found[2:] == [
        "| ours | 10.00 | 20.00 |",
        "| B | 20.00 | 30.00 |",
        r"| A \| one | 10.00 | 20.00 |",
    ]


def test_seeds_cost_and_printed_numbers():
    marker = """file: rfc.json
columns:
  MAP: MAP@10 P>=1 ±
  CPU s: CPU s
  peak: peak GiB
  MRR: published MRR
  "of": published corpus
  F1: published F1@20"""
    assert _table(marker)[2:] == [
        r"| A \| one | **30.00** | 1,234³ | 1.5³ | 25.00 | AAN | - |",
        "| B | **29.00 ± 1.23** | - | - | 25.00 | AAN | - |",
    ]
    assert _table(marker + "\nbold: false")[3].startswith("| B | 29.00 ± 1.23 |")


def test_scores_of_few_seeds_are_marked_and_titles_do_not_say_so():
    report = _report(a=("A, one seed", 0.5, 0.3, 0.1), b=("B, two seeds", 0.4, 0.3, 0.2))
    for row, num_seeds in zip(report["rows"], (1, 2), strict=True):
        row |= {"is_trained": True, "num_seeds": num_seeds}
    untrained = _report(c=("C, one seed", 0.1, 0.3, 0.2))["rows"][0] | {
        "is_trained": False,
        "num_seeds": 1,
    }
    report["rows"].append(untrained)
    report["tables"]["main"]["scores"]["c"] = {"Recall@10 P>=1": {"mean": 0.1}}
    columns = "columns: {R: Recall@10 P>=1, MRR: published MRR, CPU s: CPU s, F1: F1@20}"
    files = {"few.json": report, "few.cost.json": {"a": {"cpu_seconds": 7, "peak_mib": 1}}}
    page = f"<!-- results\nfile: few.json\n{columns}\n-->\n"
    assert fill_tables(page, files.__getitem__, "page.md").splitlines()[-3:] == [
        "| A | **50.00**¹ | 25.00 | 7 | 10.00¹ |",
        "| B | 40.00² | 25.00 | - | **20.00**² |",
        "| C, one seed | 10.00 | 25.00 | - | - |",
    ]


def test_a_table_without_columns_has_those_of_the_table_before():
    first = "<!-- results\nfile: rfc.json\nrows: [a]\ncolumns: {F1: F1@20}\n-->\n"
    sheet = "<!-- results\nsheet: rfc.md Claims of\n-->\n"
    second = "<!-- results\nfile: rfc.json\nrows: [b]\n-->\n"
    found = fill_tables(first + sheet + second, _load, "page.md")
    assert found.splitlines()[-3:] == ["| | F1 |", "|:--|--:|", "| B | **20.00** |"]
    with pytest.raises(ConfigError, match=r"page.md, line 1: found no columns; expected lines"):
        fill_tables(second + first, _load, "page.md")


def test_a_table_right_below_its_marker_gives_way_too():
    marker = "<!-- results\nsheet: rfc.md Claims of\n-->\n"
    page = fill_tables(f"{marker}| old |\n|:--|\n", _load, "page.md")
    assert page == f"{marker}\n| | gain |\n|:--|--:|\n| x | +1.00 |\n"


@pytest.mark.parametrize(
    "marker", ["<!-- results \nx: 1\n-->\n", "<!--results\nx: 1\n-->", "<!-- results\n"]
)
def test_a_marker_that_is_not_whole_is_refused(marker):
    with pytest.raises(ConfigError, match=r"page.md, line 2: found a marker that is not whole; ex"):
        fill_tables(f"\n{marker}", _load, "page.md")


def test_a_sheet_of_a_report_is_copied():
    assert _table("sheet: rfc.md Claims of") == ["| | gain |", "|:--|--:|", "| x | +1.00 |"]


def _claim(text, subset, p, verdict, **others):
    about = {"paper": "P", "where": "Sec. 1", "text": text, "measure": "MAP@10", "subset": subset}
    numbers = {"difference": 0.0612, "low": -0.001, "high": 0.1234, "p": p}
    return {**about, "more_in": "rare", "less_in": "other", "verdict": verdict, **numbers, **others}


def test_claims_that_were_tested_stand_side_by_side():
    ours = {"paper": "this project", "where": "README"}
    claims = {
        "rfc.json": [
            _claim("A is above [B].", "P>=1", 0.03214, "confirmed"),
            _claim("A is above [B].", "P>=2", 1.0, "open"),
            _claim("C helps.", "", 0.00001, "confirmed", **ours),
            _claim("D helps.", "P>=1", None, "open"),
        ],
        "acl.json": [_claim("A is above [B].", "P>=2", 0.2, "open", difference=-0.01, low=-0.02)],
    }
    for name, found in claims.items():
        FILES[name]["claims"] = found
    assert _table("claims: {RFC: rfc.json, ACL: acl.json}") == [
        "|  | measured | RFC | ACL |",
        "|:--|:--|:--|:--|",
        r"| A is above \[B\]. (P, Sec. 1) | MAP@10, P ≥ 1 | +6.12 \[-0.10, +12.34\], p 0.0321, "
        "confirmed | - |",
        r"|  | MAP@10, P ≥ 2 | +6.12 \[-0.10, +12.34\], p 1.0000, open | "
        r"-1.00 \[-2.00, +12.34\], p 0.2000, open |",
        r"| C helps. | MAP@10, rare - other | +6.12 \[-0.10, +12.34\], p \<0.0001, confirmed | - |",
    ]


def test_a_table_of_a_paper_has_ours_above_what_is_printed_and_its_tests():
    def row(title, seeds, mean, printed, p=None):
        score = {"mean": mean, "printed": printed, "p_t_test": p, "p_randomization": p and 0.5}
        return {
            "title": title,
            "row": title.lower(),
            "seeds": seeds,
            "scores": {"MAP@10 P>=2": score},
        }

    rows = [
        row("Base", 3, 0.2, 0.1),
        row("Other", 0, None, None),
        row("Ours", 1, 0.3, None, 0.01),
        row("Level", 3, 0.21, 0.4, 0.06),
        row("Below", 3, 0.1, None, 0.01),
    ]
    FILES["t.json"] = {
        "paper_tables": {"t3": {"best_baseline": {"MAP@10 P>=2": "base"}, "rows": rows}},
        "tables": {"main": {"queries": {"P>=2": 1234}}},
    }
    assert _table("paper_table: t.json t3") == [
        "| | MAP@10<br>P ≥ 2 (1,234) |",
        "|:--|--:|",
        "| Base | 20.00 |",
        "| Base, printed | 10.00 |",
        "| Other | - |",
        r"| Ours, one seed | 30.00\* |",
        "| Level | 21.00 |",
        "| Level, printed | 40.00 |",
        "| Below | 10.00 |",
    ]
    assert _table("paper_tests: t.json t3")[2:] == [
        "| Ours, one seed, MAP@10 P ≥ 2 | Base | +10.00 | 0.0100 | 0.5000 |",
        "| Level, MAP@10 P ≥ 2 | Base | +1.00 | 0.0600 | 0.5000 |",
        "| Below, MAP@10 P ≥ 2 | Base | -10.00 | 0.0100 | 0.5000 |",
    ]
    with pytest.raises(ConfigError, match="a file that it names is no result"):
        _table("paper_table: t.json t4")


def test_some_rows_of_a_sheet_are_copied_in_its_order():
    FILES["b.md"] = "## Benchmarks of a day\n\n| what |\n|---|\n| a, 1 |\n| b |\n| a, 2 |\n| c |\n"
    table = _table("sheet: b.md Benchmarks\nrows: [c, 'a,']")
    assert table == ["| what |", "|---|", "| a, 1 |", "| a, 2 |", "| c |"]


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("columns: [", "page.md, line 3: unreadable marker"),
        ("other: 1", "page.md, line 3: found other; expected a marker of bold, claims, columns"),
        ("just words", "page.md, line 3: found just words; expected a marker"),
        ("file: rfc.json", "page.md, line 3: found no columns; expected lines"),
        ("columns: {x: MAP@10 P>=1}", "found 'MAP@10 P>=1'; expected a line 'file: N"),
        (
            "file: rfc.json\ncolumns: {x: MAP@9}",
            "rfc.json has no column 'MAP@9'; expected one of F",
        ),
        ("file: no.json\ncolumns: {x: F1@20}", "no.json: unreadable"),
        ("file: acl.json\ncolumns: {x: CPU s}", "acl.cost.json: unreadable"),
        ("file: rfc.json\nrows: a\ncolumns: {x: F1@20}", "rows is 'a'; expected a list of names"),
        (
            "file: rfc.json\nrows: [z]\ncolumns: {x: F1@20}",
            "none of rfc.json has a row z; expected",
        ),
        ("file: rfc.cost.json\ncolumns: {x: F1@20}", "a file that it names is no result"),
        ("sheet: rfc.md Settings", "rfc.md has no table below a heading '## Settings'"),
        (
            "sheet: rfc.md Claims of\nrows: [y]",
            "rfc.md has no row below '## Claims of' that begins 'y'",
        ),
    ],
)
def test_a_wrong_marker_is_refused_in_one_line(marker, message):
    with pytest.raises(ConfigError) as error:
        _table(marker)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_of_several_names_a_cell_and_the_title_are_of_the_first_that_a_file_has():
    marker = "file: rfc.json\nrows: [b|a]\ncolumns: {Recall: 'Recall@10 P>=1'}\nbold: false"
    assert _table(marker)[2:] == ["| B | 40.00 |"]
