"""The scripts of completion, tried in the shells that are there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from mpbert.cli import COMMANDS, main
from mpbert.commands.completion import SHELLS
from mpbert.foundation.extras import EXTRAS
from mpbert.methods.embedding import EMBEDDERS

ROOT = Path(__file__).parents[2]
# what bash does when TAB is pressed behind the last word
_PRESS_TAB = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
complete -p mpbert >/dev/null || exit 1
_shtab_mpbert mpbert "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


_WRITE = """
import contextlib, importlib, io, pathlib, sys
from mpbert.cli import main
folder, shells, commands = pathlib.Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
guilty = []
for command in commands:
    importlib.import_module("mpbert.commands." + command.replace("-", "_"))
    if "torch" in sys.modules:
        guilty = [command]
        break
(folder / "imported torch").write_text(" ".join(guilty))
for shell in shells:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["completion", shell]) == 0
    (folder / shell).write_text(out.getvalue())
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """Folder of the scripts, written by one process that first imports commands one by one."""
    folder = tmp_path_factory.mktemp("completion")
    commands = sorted(COMMANDS)
    words = [str(folder), " ".join(SHELLS), *commands]
    subprocess.run([sys.executable, "-c", _WRITE, *words], check=True, cwd=ROOT)
    return folder


@pytest.fixture
def tab(scripts, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "run.yaml").touch()

    def press(*words):
        command = ["bash", "-c", _PRESS_TAB, "bash", str(scripts / "bash"), "mpbert", *words]
        found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        return set(found.stdout.split())

    return press


def test_bash_completes_commands(tab):
    assert set(COMMANDS) <= tab("")
    assert tab("export-") == {"export-data", "export-encoder", "export-vectors"}


def test_bash_completes_flags_of_the_command(tab):
    assert tab("embed", "--s") == {"--seed", "--sentence-vectors", "--splits"}
    assert "--method" in tab("fit", "--")
    assert {"--config", "--log"} <= tab("evaluate", "--")


def test_bash_completes_values_of_a_flag(tab):
    assert tab("fit", "--method", "") >= set(EMBEDDERS.names())
    assert tab("embed", "data", "encoder", "out", "--splits", "t") == {"train", "test"}
    assert tab("embed", "--splits", "train", "v") == {"valid"}
    assert tab("embed", "--log", "j") == {"json"}
    assert tab("completion", "t") == {"tcsh"}


def test_bash_completes_files(tab):
    assert tab("embed", "ru") == {"runs", "run.yaml"}
    assert tab("embed", "--config", "run.") == {"run.yaml"}
    assert tab("retrieve", "--vectors", "ru") == {"runs", "run.yaml"}


@pytest.mark.parametrize("shell", ["tcsh", "zsh"])
def test_the_other_shells_read_their_script(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    found = subprocess.run([shell, "-n", scripts / shell], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


# what makes the script known to a shell at a terminal; its echo does not look like the prompt
_SET_UP = {
    "tcsh": "source _mpbert; set autolist; set prompt='rea''dy> '",
    "zsh": "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; PS1='rea''dy> '",
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("export-", {"export-data", "export-encoder", "export-vectors"}),
        ("embed --b", {"batch-tokens", "bf16"}),
        ("embed --splits t", {"test", "train"}),
        ("export-vectors --format w", {"word2vec", "word2vec-bin"}),
        ("fit --method ", set(EMBEDDERS.names())),
        ("embed ru", {"run.yaml", "runs/"}),
        ("embed data encoder ru", {"run.yaml", "runs/"}),
        ("retrieve --vectors ru", {"run.yaml", "runs/"}),
    ],
)
@pytest.mark.parametrize("shell", _SET_UP)
def test_the_other_shells_complete_at_a_terminal(scripts, tmp_path, shell, words, expected):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "runs").mkdir()
    (tmp_path / "run.yaml").touch()
    shutil.copy(scripts / shell, tmp_path / "_mpbert")
    environment = {**os.environ, "TERM": "vt100"}
    terminal = pexpect.spawn(
        shell, ["-f", "-i"], cwd=tmp_path, env=environment, dimensions=(60, 200), encoding="utf-8"
    )
    terminal.sendline(_SET_UP[shell])
    terminal.expect("ready> ", timeout=300)
    terminal.send(f"mpbert {words}\t\t")
    seen = ""
    while not expected <= set(re.findall(r"\w[\w./-]*", seen)):
        seen += terminal.read_nonblocking(4096, timeout=300)
    terminal.close(force=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_in_every_script(scripts, shell):
    text = (scripts / shell).read_text()
    assert all(name in text for name in COMMANDS)


def test_no_configuration_needs_torch(scripts):
    assert (scripts / "imported torch").read_text() == ""


def test_a_base_installation_has_every_command_and_its_flags():
    packages = [name for names in EXTRAS.values() for name in names]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({packages}))  # as where none is installed\n"
        f"from mpbert.cli import main; sys.exit(main(['completion', 'bash']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)
    of_command = r"_shtab_mpbert_{}_option_strings=\(([^)]*)\)"
    flags = re.search(of_command.format("recommend"), done.stdout)[1]
    assert "--whole" in flags
    assert "--test-share" in re.search(of_command.format("build_corpus"), done.stdout)[1]
    assert done.stderr == ""


def test_an_unknown_shell_is_refused_with_the_choices(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "fish"])
    assert stopped.value.code == 2
    assert "bash, tcsh, zsh" in capsys.readouterr().err.replace("'", "")
