"""setup.sh on machines that lack something: one line says what, before anything is downloaded."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A Python whose pip writes down what it is asked, and installs nothing.
_PYTHON = """#!/bin/sh
here=$(dirname "$0")
case "$1 $2 $3" in
"-m venv --clear") rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; echo venv >>{calls} ;;
"-m pip --version") [ ! -e "$here/no-pip" ] ;;
"-m pip install")
  echo "$*" >>{calls}
  case "$4 $5" in
  "--dry-run --quiet") cat {report} ;;
  "-r "*) exit ${{CODE:-0}} ;;
  esac ;;
*) exec {real} "$@" ;;
esac
"""
_OLD = '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.18 && exit\nexit 1\n'


class Machine:
    """A clone that has setup.sh alone, and a path with programs of its own."""

    def __init__(self, folder):
        self.clone, self.programs = folder / "clone", folder / "bin"
        self.calls, self.report = folder / "calls", folder / "report.json"
        self.python = self.clone / ".venv" / "bin" / "python"
        for made in (self.clone, self.programs):
            made.mkdir()
        for name in ("setup.sh", "requirements.txt"):
            shutil.copy(ROOT / name, self.clone)
        for name in ("bash", "sh", "dirname", "cmp", "flock", "grep", "tail", "touch", "cp", "rm"):
            (self.programs / name).symlink_to(shutil.which(name))
        for name in ("mkdir", "cat"):
            (self.programs / name).symlink_to(shutil.which(name))
        self.write("g++", "#!/bin/sh\n")
        places = {"calls": self.calls, "report": self.report, "real": sys.executable}
        self.new = _PYTHON.format(**places)
        self.write("python3", self.new)
        self.has_torch("2.13.0", [])

    def write(self, name, text):
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def has_torch(self, version, needs):
        metadata = {"version": version, "requires_dist": needs}
        self.report.write_text(json.dumps({"install": [{"metadata": metadata}]}))

    def run(self, command="bash setup.sh", **variables):
        """Return the exit code, and the lines on the terminal."""
        hidden = ("MPBERT_PYTHON", "TMPDIR", "CXX")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        environment = {**kept, "PATH": str(self.programs), **variables}
        found = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            cwd=self.clone,
            env=environment,
            executable=shutil.which("bash"),
        )
        return found.returncode, found.stderr.splitlines()

    def asked(self):
        """Return what was installed since the last time."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_all_is_installed_once(machine):
    assert machine.run()[0] == 0
    first, *calls = machine.asked()
    assert first == "venv" and calls[0].endswith("--upgrade pip")
    assert [call for call in calls if "requirements.txt" in call or "fairseq" in call]
    assert machine.run(". ./setup.sh && [[ $python == */.venv/bin/python ]]") == (0, [])
    assert machine.asked() == []


def test_a_recipe_ends_where_its_setup_does(machine):
    (machine.programs / "g++").unlink()
    code, lines = machine.run(". ./setup.sh; echo went on >&2")
    assert code == 2 and len(lines) == 1


@pytest.mark.parametrize("newer", ["python3.12", "python3.11"])
def test_a_newer_python_is_taken_where_the_first_is_too_old(machine, newer):
    machine.write("python3", _OLD)
    machine.write(newer, machine.new)
    assert machine.run()[0] == 0 and machine.asked()[0] == "venv"
    (machine.programs / newer).unlink()
    shutil.rmtree(machine.clone / ".venv")
    expected = "setup: found Python 3.9.18; expected Python 3.11 or later on the path"
    assert machine.run() == (2, [expected]) and machine.asked() == []
    (machine.programs / "python3").unlink()
    assert machine.run() == (2, [expected.replace("Python 3.9.18", "no Python")])


def test_what_pip_cannot_bring_is_named_with_its_remedy(machine):
    (machine.programs / "g++").unlink()
    broken = f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} -c "$LACKS$2"\nexit 1\n'
    machine.write("python3", broken)
    lacks = "import sys, sysconfig\nsys.modules['ensurepip'] = None\n"
    code, lines = machine.run(LACKS=lacks + "sysconfig.get_path = lambda _: '/nowhere'\n")
    assert (code, len(lines)) == (2, 1) and not machine.asked()
    assert lines[0].endswith("apt-get install python3-venv python3-dev g++")
    assert machine.run(CXX="bash", LACKS=lacks)[1][0].endswith("apt-get install python3-venv")


def test_a_full_disk_is_told_before_anything_is_installed(machine, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    sizes = f"{{'free': 9 * 10 ** (8 if path == {str(small)!r} else 10)}}"
    full = f"import shutil; shutil.disk_usage = lambda path: type('Disk', (), {sizes}); "
    machine.write("python3", f'#!/bin/sh\nexec {sys.executable} "$1" "$FULL$2" "$3"\n')
    code, lines = machine.run(FULL=full, TMPDIR=str(small))
    assert code == 2 and not machine.asked()
    assert lines[0].startswith(f"setup: {small}: found 0 GB free; expected ")


@pytest.mark.parametrize("how", ["killed", "no pip", "no python"])
def test_half_of_an_environment_is_made_again(machine, how):
    programs = machine.python.parent
    programs.mkdir(parents=True)
    if how != "no python":
        shutil.copy(machine.programs / "python3", machine.python)
        (programs.parent / "unfinished" if how == "killed" else programs / "no-pip").touch()
    assert machine.run()[0] == 0
    assert machine.asked()[0] == "venv"


def test_a_whole_environment_of_older_requirements_is_kept(machine):
    assert machine.run()[0] == 0
    machine.asked()
    with (machine.clone / "requirements.txt").open("a") as file:
        file.write("# changed\n")
    assert machine.run()[0] == 0
    calls = machine.asked()
    assert "venv" not in calls and any("requirements.txt" in call for call in calls)


def test_an_installation_that_fails_shows_its_last_lines_and_begins_anew(machine):
    code, lines = machine.run(CODE="1")
    assert code == 2
    assert lines[-1] == "setup: installation failed; see .venv/install.log"
    assert machine.run()[0] == 0
    assert machine.asked().count("venv") == 2


CUDA = ["nvidia-cublas==13; platform_system == 'Linux'"]
gpu = any(Path(name).exists() for name in ("/dev/nvidiactl", "/dev/dxg"))


@pytest.mark.skipif(gpu, reason="this machine has a GPU, whose torch has CUDA")
def test_torch_without_cuda_is_looked_for_where_pip_would_take_that_with_it(machine, tmp_path):
    machine.has_torch("2.13.0", CUDA)
    machine.write("uv", f'#!/bin/sh\necho "uv $*" >>{machine.calls}\nexit ${{UV:-0}}\n')
    code, lines = machine.run()
    assert code == 0 and not any("CUDA:" in line for line in lines)
    (call,) = [call for call in machine.asked() if call.startswith("uv")]
    assert call.startswith("uv pip install") and "--torch-backend cpu torch==" in call
    shutil.rmtree(machine.clone / ".venv")
    code, lines = machine.run(UV="1")
    assert code == 0 and any("3.2 GB to download and 6.7 GB on disk" in line for line in lines)
