"""What ``check-citations`` prints for programs, how it ends, and the hook that runs it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from mpbert.commands.check_citations import Config
from mpbert.foundation.config import parse_config
from mpbert.recommending.checking.findings import KINDS, Finding
from mpbert.recommending.checking.reports import github, sarif

ROOT = Path(__file__).parents[2]
BIB = """@article{mail,
  title = {Mail is sorted}, author = {Doe, Jo}, year = 2001,
}
@article{posts,
  title = {Posts are roads}, author = {Doe, Jo}, year = 2002,
}
"""
TEX = r"""\documentclass{article}
\begin{document}
Mail is sorted \cite{mail} by zebras \cite{zebras}.
\bibliography{refs}
\end{document}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working directory: a repository whose manuscript lies in a folder of it."""
    folder = tmp_path / "my text"
    folder.mkdir()
    (folder / "refs.bib").write_text(BIB)
    (folder / "paper.tex").write_text(TEX)
    monkeypatch.chdir(tmp_path)
    return folder


def test_sarif_names_files_from_the_working_directory(project, run):
    code, printed, _ = run("check-citations", "-", "my text", "--format", "sarif")
    log = json.loads(printed)
    assert (code, log["version"]) == (0, "2.1.0")
    (part,) = log["runs"]
    rules = part["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(KINDS)
    found = {}
    for result in part["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["defaultConfiguration"]["level"] == result["level"]
        place = result["locations"][0]["physicalLocation"]
        found[result["ruleId"]] = place["artifactLocation"]["uri"], place["region"]["startLine"]
    assert found == {
        "undefined-key": ("my%20text/paper.tex", 3),
        "unused-entry": ("my%20text/refs.bib", 4),
    }


def test_annotations_of_github(project, run):
    code, printed, _ = run("check-citations", "-", "my text/paper.tex", "--format", "github")
    assert code == 0
    assert re.fullmatch(
        r"::error file=my text/paper.tex,line=3,title=undefined-key::'zebras' .*\n"
        r"::notice file=my text/refs.bib,line=4,title=unused-entry::'posts' is cited nowhere\n",
        printed,
    )


def test_signs_with_a_meaning_and_files_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = Finding("broken-entry", Path("a,b:c.bib"), None, "90 % of\nit")
    (line,) = github([odd], Path("x"))
    assert line == "::warning file=x/a%2Cb%3Ac.bib,title=broken-entry::90 %25 of%0Ait"
    far = Finding("broken-entry", Path("/elsewhere/a b.bib"), 2, "it")
    (result,) = sarif([far], Path("x"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "file:///elsewhere/a%20b.bib"},
        "region": {"startLine": 2},
    }


@pytest.mark.parametrize(
    ("text", "fail_on", "expected"),
    [
        (TEX, "error", 3),
        (TEX, "note", 3),
        (TEX.replace(r" \cite{zebras}", ""), "warning", 0),
        (TEX.replace(r" \cite{zebras}", ""), "note", 3),
        (TEX.replace("zebras}", "posts}"), "note", 0),
    ],
)
def test_the_exit_code_tells_of_findings(project, run, text, fail_on, expected):
    (project / "paper.tex").write_text(text)
    code, printed, said = run("check-citations", "-", "my text", "--fail-on", fail_on)
    assert code == expected
    assert (printed == "nothing was found\n") == ("posts}" in text)
    assert bool(said) == bool(code)
    assert code == 0 or re.fullmatch(r"mpbert check-citations: .*my text: \d findings .*\n", said)


def test_the_hook_is_a_command_that_there_is(project, run, monkeypatch):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, command, *words = hook["entry"].split() + hook["args"]
    assert (program, command) == ("mpbert", "check-citations")
    assert isinstance(parse_config(Config, command, words), Config)
    assert all(re.search(hook["files"], name) for name in ("a.tex", "b/c.bib", "d.qmd"))
    assert not re.search(hook["files"], "a.py")
    assert run(command, *words)[0] == 3
