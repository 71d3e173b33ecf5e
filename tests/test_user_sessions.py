"""The sessions of three users in the docs: what a page says is typed, and its outputs come."""

import shutil
import socket

import pytest

from tests.documented import (
    ROOT,
    blocks,
    is_printed,
    make_clone,
    play,
    run_here,
    run_in_shell,
    shape,
)

SESSIONS = ROOT / "docs" / "sessions"


@pytest.fixture
def clone(tmp_path):
    return make_clone(tmp_path)


def test_a_student_asks_a_folder_of_papers_and_cites_in_latex(clone):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    play(SESSIONS / "student.md", run_here, clone)
    draft = (clone / "draft.tex").read_text()
    assert draft.count("\\cite{1999table}") == 1 and "\\mycite{todo}" in draft
    assert (clone / "refs.bib").read_text().count("@misc") == 2


def test_a_researcher_compares_a_run(clone, rfc_corpus):
    (clone / "runs" / "corpus").mkdir(parents=True)
    shutil.copytree(rfc_corpus, clone / "runs" / "corpus" / "rfc")
    play(SESSIONS / "researcher.md", run_here, clone)


@pytest.mark.recipe
def test_an_engineer_serves_an_index(clone):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    page = clone / "engineer.md"  # the same with a free port, and all commands in one shell
    commands = "".join(t for kind, _, t in blocks(SESSIONS / "engineer.md") if kind == "bash")
    outputs = "".join(t for kind, _, t in blocks(SESSIONS / "engineer.md") if kind == "text")
    commands = commands.replace("curl -s", "echo; curl -s").replace("8000", port)
    page.write_text(f"```bash\n{commands}```\n```text\n{outputs}```\n".replace("8000", port))
    play(page, run_in_shell, clone)
    assert "the page asks for the token" in (clone / "serve.log").read_text()


def test_a_line_is_compared_by_its_shape():
    assert shape("12 papers,  0.5 s") == "# papers, # s"
    assert is_printed("place 2: Names ...", "x\nplace 1: Names of hosts\n")
    assert not is_printed("place 2: Names", "place 1: Names of hosts")
