"""Every figure of the front page, of docs and of datasets is held by a results file."""

import json
from collections import Counter
from pathlib import Path

import pytest

from mpbert.commands.fill_tables import filled
from mpbert.experiments.page_tables import count_markers
from tests.results_figures import unheld_amounts, unheld_scores

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NO_PAGES = {DOCS / "commands", DOCS / "results" / "reports"}  # generated; results files themselves
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if not NO_PAGES & set(page.parents)),
    *sorted((ROOT / "datasets").rglob("*.md")),
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_tables_of_a_page_are_those_of_the_results_files(page):
    command = "run: mpbert fill-tables README.md docs/benchmarks.md docs/results/*.md"
    assert page.read_text(encoding="utf-8") == filled(page), command


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_figures_of_a_page_stand_in_the_results_files_that_it_names(page):
    assert unheld_scores(page) == []
    assert unheld_amounts(page) == []


def test_the_pages_with_tables_of_scores_fill_them():
    tables: Counter[str] = Counter()
    for page in PAGES:
        tables[page.name] += count_markers(page.read_text(encoding="utf-8"))
    names = ("README.md", "rfc.md", "acl.md", "claims.md", "parts.md", "benchmarks.md")
    assert all(tables[name] for name in names)


def test_the_page_shows_the_first_misses_that_the_command_printed():
    page = (DOCS / "results" / "rfc.md").read_text(encoding="utf-8")
    printed = (DOCS / "results" / "reports" / "rfc-misses.txt").read_text(encoding="utf-8")
    table, misses = printed.split("\n1. ")
    assert table in page and page.endswith("\n1. " + misses.partition("\n\n4. ")[0] + "\n")


def test_the_table_of_the_paper_is_two_clicks_from_the_front_page():
    assert "(docs/results/acl.md#table-3-of-the-paper)" in (ROOT / "README.md").read_text("utf-8")
    page = (DOCS / "results" / "acl.md").read_text(encoding="utf-8")
    assert "\n## Table 3 of the paper\n" in page and "\n| MB4R mpt-src-tgt, printed |" in page


@pytest.mark.parametrize("measure", ["Recall@10", "MAP@10"])
@pytest.mark.parametrize("corpus", ["rfc", "acl"])
def test_an_index_answers_as_well_as_the_best_row_within_half_a_point(corpus, measure):
    report = json.loads((DOCS / "results" / "reports" / f"{corpus}.json").read_text("utf-8"))
    scores = report["tables"]["main"]["scores"]
    means = {name: 100 * of[f"{measure} P>=1"]["mean"] for name, of in scores.items()}
    answers = {name: mean for name, mean in means.items() if name.startswith("index_")}
    # these two compare the tokens of query and paper, which no index does
    of_tokens = {"lambdamart_cross_encoder", "lambdamart_late_interaction"}
    of_tuned = {"lambdamart_finetuned"} & means.keys()  # and this one reads two transformers
    others = means.keys() - answers.keys() - of_tokens - of_tuned
    assert max(answers.values()) > max(means[name] for name in others) - 0.5
    assert max(answers.values()) > max(means[name] for name in of_tokens) - 0.6
    assert max(answers.values()) > max((means[name] for name in of_tuned), default=0) - 0.7


REPORT = {
    "of_runs": {"MRR": {"a": 0.6123, "b": None}},
    "seeds": {"a": {"num_seeds": 3, "MAP@10 P>=1": {"mean": 0.31, "half_width": 0.0127}}},
    "tables": {
        "main": {
            "scores": {
                "a": {
                    "Recall@10 P>=1": {"mean": 0.70345, "low": 0.69, "high": 0.7177},
                    "MAP@10 P>=1": {
                        "mean": 0.47175,
                        **{"difference": 0.0119, "difference_low": -0.0043, "p_t_test": 0.7312},
                    },
                },
                "b": {"Recall@10 P>=1": {"mean": 0.5}, "MAP@10 P>=1": {"mean": 0.25}},
            }
        }
    },
}


@pytest.mark.parametrize(
    ("prose", "unheld"),
    [
        ("A score of 61.23 and 70.3 / 47.2, that is 70.34 / 47.18.", []),
        ("It has 61.24.", ["61.24"]),
        ("It has 70.3 / 47.1.", ["70.3 / 47.1"]),
        ("Recall of one row, MAP of another: 70.3 / 25.0.", ["70.3 / 25.0"]),
        ("MAP@10 is +1.19 (interval -0.43 to +1.20, p = .73).", ["+1.20"]),
        ("1.19 without a sign is no score.", ["1.19"]),
        ("A difference p = .74 and p = 0.73.", ["p = .74"]),
        ("An interval [69.00, 71.77] or [69.01, 70].", ["[69.01"]),
        ("31.00 ± 1.27 of three seeds, 31.00 ± 1.28", ["± 1.28"]),
        ("70.34 ± 0.46 / 47.18 ± 1.27", []),
        ("70.34 ± 0.46 / 47.19 ± 1.27", ["70.34 ± 0.46 / 47.19 ± 1.27"]),
        ("Code `lr=0.05`, 10.25.3 and 0.0328 are no figures, and 99.9 % has one digit.", []),
        ("<!-- 1.23 -->\n```\n1.23\n```\n[1](a1.23.md)", []),
        ("| a table | that is not filled: 12.34 |", ["12.34"]),
    ],
)
def test_a_score_that_no_results_file_holds_is_found(tmp_path, prose, unheld):
    (tmp_path / "r.json").write_text(json.dumps(REPORT))
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n<!-- figures: r.json\n-->\n\n{prose}\n")
    assert unheld_scores(page) == unheld
    page.write_text(f"# Page of no file\n\n{prose}\n")
    assert len(unheld_scores(page)) >= len(unheld)


def test_a_page_may_name_an_earlier_report_in_markdown(tmp_path):
    (tmp_path / "old.md").write_text("| BM25 | 48.78 | **30.91** | p 0.7312 |\n| 12.34 |\n")
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: old.md -->\n48.78 / 30.91, 48.8 / 30.9, p = .73, 12.34, 12.35\n")
    assert unheld_scores(page) == ["12.35"]
    page.write_text("<!-- figures: old.md -->\n30.91 / 12.34\n")  # of two rows
    assert unheld_scores(page) == ["30.91 / 12.34"]


TABLE = """| embed, 1,000 papers | >= 2 | 26.4 papers/s | 6.0 papers/s | 1,036 |
| search | 0.273 s | 2.5 s | 43 ms, median 19 ms | 2.11 |
"""
COUNTS = {"papers": 20075, "contexts": {"test": 57}, "of_runs": {}}


@pytest.mark.parametrize(
    ("prose", "unheld"),
    [
        ("26.4 papers/s, 26 papers/s, 0.27 s, 2.5\ns, 19 ms, 1,036 and 20,075 papers.", []),
        ("27 papers/s, 0.28 s and 1,037 papers.", ["27 papers/s", "0.28 s", "1,037"]),
        ("A number with another unit: 43 s, 26.4 ms.", ["43 s", "26.4 ms"]),
        ("JSON has no units: 57 ms.", ["57 ms"]),
        ("It took 8 min, 2 hours, 66 CPU seconds.", ["8 min", "2 hours", "66 CPU seconds"]),
        ("It takes 3 MiB and 4.5 GiB.", ["3 MiB", "4.5 GiB"]),
        ("It is 6 times as fast, and 1.1 times.", ["6 times", "1.1 times"]),
        ("| 58 | 57 | 2.11 | **58** | 12 ms |", ["58", "12 ms"]),
        ("| a | 3.14 |\n| b | 58 or 59 |", ["3.14"]),
        ("`480 seconds`, about ten minutes, 91 MB, 593 papers, version 1.0.0, RFC 8468.", []),
        ("Zhang & Ma, 2021, Table 3, 2 CPU cores, Python 3.11, 0.05, 50 sentences", []),
        ("```\n4 s\n```\n<!-- 5 s -->\n[6 s](a-1,234.md)", ["6 s"]),
        ("`<!-- figures: FILE FILE -->` says how.", []),
    ],
)
def test_an_amount_that_no_results_file_holds_is_found(tmp_path, prose, unheld):
    (tmp_path / "table.md").write_text(TABLE)
    (tmp_path / "counts.json").write_text(json.dumps(COUNTS))
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figures: table.md\ncounts.json -->\n\n{prose}\n")
    assert unheld_amounts(page) == unheld
    page.write_text(f"# Page of no file\n\n{prose}\n")
    assert len(unheld_amounts(page)) >= len(unheld)


def test_filled_tables_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- results\nrows: [a]\n-->\n\n| a | 12.34 |\n| b | 1.23 |\n\n45.67\n")
    assert unheld_scores(page) == ["45.67"]
    page.write_text("<!-- results\nsheet: a.md A\n-->\n\n| a | 1.2 s |\n\n3.4 s\n")
    assert unheld_amounts(page) == ["3.4 s"]
