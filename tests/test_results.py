"""Every figure of the front page and of docs/results is held by a results file."""

import json
from pathlib import Path

import pytest

from mpbert.commands.fill_tables import filled
from mpbert.experiments.page_tables import count_markers
from tests.results_figures import unheld_figures

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PAGES = [ROOT / "README.md", *sorted(RESULTS.glob("*.md"))]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_tables_of_a_page_are_those_of_the_results_files(page):
    command = "run: python -m mpbert fill-tables README.md docs/results/*.md"
    assert page.read_text(encoding="utf-8") == filled(page), command


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_figures_of_a_page_stand_in_the_results_files_that_it_names(page):
    assert unheld_figures(page) == []


def test_the_pages_with_tables_of_scores_fill_them():
    tables = {page.name: count_markers(page.read_text(encoding="utf-8")) for page in PAGES}
    assert all(tables[name] for name in ("README.md", "index.md", "global.md", "token-bag.md"))


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
def test_a_figure_that_no_results_file_holds_is_found(tmp_path, prose, unheld):
    (tmp_path / "r.json").write_text(json.dumps(REPORT))
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n<!-- figures: r.json\n-->\n\n{prose}\n")
    assert unheld_figures(page) == unheld
    page.write_text(f"# Page of no file\n\n{prose}\n")
    assert len(unheld_figures(page)) >= len(unheld)


def test_a_page_may_name_an_earlier_report_in_markdown(tmp_path):
    (tmp_path / "old.md").write_text("| BM25 | 48.78 | **30.91** | p 0.7312 |\n| 12.34 |\n")
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: old.md -->\n48.78 / 30.91, 48.8 / 30.9, p = .73, 12.34, 12.35\n")
    assert unheld_figures(page) == ["12.35"]
    page.write_text("<!-- figures: old.md -->\n30.91 / 12.34\n")  # of two rows
    assert unheld_figures(page) == ["30.91 / 12.34"]


def test_filled_tables_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- results\nrows: [a]\n-->\n\n| a | 12.34 |\n| b | 1.23 |\n\n45.67\n")
    assert unheld_figures(page) == ["45.67"]
