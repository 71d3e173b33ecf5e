import json

import pytest

from mpbert.cli import main

REPORT = {
    "rows": [{"name": "a", "title": "A"}],
    "tables": {"main": {"scores": {"a": {"MAP@10 P>=1": {"mean": 0.1234}}}}},
    "of_runs": {},
    "seeds": {},
}
PAGE = "# Page\n\n<!-- results\nfile: sub/r.json\ncolumns: {MAP: MAP@10 P>=1}\n-->\n"


@pytest.fixture
def page(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "r.json").write_text(json.dumps(REPORT))
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path / "page.md"


def test_pages_are_filled_from_files_beside_them_and_left_where_nothing_changed(page, capsys):
    other = page.with_name("other.md")
    other.write_text("no table")
    assert main(["fill-tables", str(page), str(other)]) == 0
    assert page.read_text() == f"{PAGE}\n| | MAP |\n|:--|--:|\n| A | **12.34** |\n"
    assert capsys.readouterr().out.splitlines() == [
        f"{page}: 1 tables, written",
        f"{other}: 0 tables, as they were",
    ]
    report = json.dumps(REPORT).replace("0.1234", "0.5")
    (page.parent / "sub" / "r.json").write_text(report)
    assert main(["fill-tables", str(page)]) == 0
    assert page.read_text().endswith("| A | **50.00** |\n")
    assert main(["fill-tables", str(page)]) == 0
    assert "1 tables, as they were" in capsys.readouterr().out


def test_where_one_page_is_wrong_none_is_written(page, capsys):
    wrong = page.with_name("wrong.md")
    wrong.write_text(PAGE.replace("r.json", "none.json"))
    for name, content, message in (
        ("none.json", None, "none.json: unreadable (No such file or directory); expected a page"),
        ("none.json", "{", "none.json: is no JSON"),
        ("none.json", "[]", "wrong.md, line 3: a file that it names is no result"),
    ):
        if content is not None:
            (page.parent / "sub" / name).write_text(content)
        assert main(["fill-tables", str(page), str(wrong)]) == 2
        assert message in capsys.readouterr().err
        assert page.read_text() == PAGE
