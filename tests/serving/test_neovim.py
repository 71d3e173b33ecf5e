"""A real editor: Neovim without a window, typed into as by a writer, with the settings of the docs.

It is skipped where no nvim is installed. Debian: apt-get install neovim.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.serving.editing import ENTRY, ENVIRONMENT, NAMES, ROOT, make_index

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="nvim is not installed")
TEXT = (
    "\\documentclass{article}\r\n\\begin{document}\r\n\\input{part}\r\n"
    "\\bibliography{refs}\r\n\\end{document}\r\n"
)
PART = "Ünï 😀 is kept.\n\nRouters drop packets [CITATION].\n"
BIB = "% käpt\n@misc{old,\n  title = {Old},\n}"  # which ends in no line end


class Neovim:
    """A Neovim that is typed into."""

    def __init__(self, folder: Path, index: Path) -> None:
        (settings,) = re.findall(r"```lua\n(.*?)```", (ROOT / "docs/editors.md").read_text(), re.S)
        words = [sys.executable, "-m", "mpbert", "lsp", str(index)]
        command = ", ".join(map(json.dumps, words))
        settings = settings.replace('"mpbert", "lsp", "/path/to/index"', command)
        (folder / "init.lua").write_text(settings)
        self._socket = str(folder / "socket")
        options = ["--headless", "-n", "-u", str(folder / "init.lua"), "--listen", self._socket]
        # a file that ends in no line end stays one
        set_up = ["--cmd", "set hidden nofixendofline"]
        self._process = subprocess.Popen(
            ["nvim", *options, *set_up], env=ENVIRONMENT, cwd=folder, stderr=subprocess.DEVNULL
        )
        self.until(lambda: os.path.exists(self._socket))

    def ask(self, expression: str) -> object:
        """Return the value of an expression of Vim."""
        words = ["nvim", "--server", self._socket, "--remote-expr", f"json_encode({expression})"]
        found = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(found.stdout or found.stderr)

    def type(self, keys: str) -> None:
        """Type keys, such as ``i``, ``<Esc>``."""
        words = ["nvim", "--server", self._socket, "--remote-send", keys]
        subprocess.run(words, check=True, timeout=60, capture_output=True)

    def until(self, holds, seconds: float = 60) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "Neovim does not come so far"
            time.sleep(0.1)

    def complete(self, keys: str) -> None:
        """Type keys until the list of papers is shown."""
        own = "vim.lsp.buf_get_clients(0)[1]"
        self.until(lambda: self.ask(f"luaeval('{own} and {own}.initialized or false')") is True)
        self.type(keys)
        self.until(lambda: self.ask("pumvisible()") == 1)

    def text(self, name: str) -> str:
        """Return the lines of a buffer, with a line end between them."""
        return "\n".join(self.ask(f"getbufline('{name}', 1, '$')"))

    def end(self) -> None:
        self._process.kill()
        self._process.wait(60)


@pytest.fixture
def editor(tmp_path):
    for name, text in (("main.tex", TEXT), ("part.tex", PART), ("refs.bib", BIB)):
        (tmp_path / name).write_bytes(text.encode())
    neovim = Neovim(tmp_path, make_index(tmp_path))
    yield neovim
    neovim.end()


def bytes_of(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("main.tex", "part.tex", "refs.bib")]


def test_neovim_completes_inserts_and_undoes_to_the_byte(editor, tmp_path):
    before = bytes_of(tmp_path)
    editor.type(":edit part.tex<CR>")
    editor.complete("GoServers resolve names 😀 \\cite{<C-x><C-o>")
    items = editor.ask("map(complete_info(['items']).items, {_, v -> [v.word, v.abbr, v.menu]})")
    assert items[0][:2] == [NAMES, "Names of hosts"]
    assert items[0][2].startswith(f"{NAMES} · Lovelace and Roe, 2003 · ")
    editor.type("<C-y>}.<Esc>")
    editor.until(lambda: editor.ask("bufexists('refs.bib')") == 1)
    added = f"{BIB}\n\n{ENTRY}".rstrip("\n")
    editor.until(lambda: editor.text("refs.bib").rstrip("\n") == added)
    assert editor.text("part.tex") == f"{PART}Servers resolve names 😀 \\cite{{{NAMES}}}."
    assert bytes_of(tmp_path) == before  # nothing is saved but by the writer
    editor.type(":wall<CR>")
    whole = f"{PART}Servers resolve names 😀 \\cite{{{NAMES}}}.\n"
    editor.until(lambda: (tmp_path / "part.tex").read_bytes() == whole.encode())
    assert (tmp_path / "refs.bib").read_bytes().rstrip(b"\n") == added.encode()
    editor.type(":wall<CR>u:buffer refs.bib<CR>u:wall<CR>")
    editor.until(lambda: bytes_of(tmp_path) == before)


def test_a_server_that_is_killed_in_an_insertion_costs_no_byte(editor, tmp_path):
    before = bytes_of(tmp_path)
    editor.type(":edit part.tex<CR>")
    editor.complete("GoServers resolve names \\cite{<C-x><C-o>")
    server = editor.ask("luaeval('vim.lsp.buf_get_clients(0)[1].rpc.pid')")
    os.kill(server, signal.SIGSTOP)  # it is told of the choice, and does no more
    editor.type("<C-y>}.<Esc>")
    editor.until(lambda: editor.text("part.tex").endswith(f"\\cite{{{NAMES}}}."))
    os.kill(server, signal.SIGKILL)
    editor.type(":wall<CR>")
    whole = f"{PART}Servers resolve names \\cite{{{NAMES}}}.\n".encode()
    editor.until(lambda: bytes_of(tmp_path) == [before[0], whole, before[2]])
    editor.type("u:wall<CR>")
    editor.until(lambda: bytes_of(tmp_path) == before)
