import importlib
import os
import signal
import subprocess
import sys
from dataclasses import is_dataclass

import pytest

import mpbert
from mpbert import cli


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_the_overview_lists_all_commands(argv, capsys):
    assert cli.main(argv) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in cli.COMMANDS)


def test_the_version_is_that_of_the_package(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == mpbert.__version__


def test_an_unknown_command_exits_with_2_and_suggests_the_closest(capsys):
    assert cli.main(["embedd"]) == 2
    error = capsys.readouterr().err
    assert error == "mpbert: unknown command 'embedd'; did you mean 'embed'?\n"
    assert cli.main(["xyzzy"]) == 2
    assert "see mpbert --help" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_a_configuration_a_run_and_a_help(name, capsys):
    module = importlib.import_module("mpbert.commands." + name.replace("-", "_"))
    assert is_dataclass(module.Config)
    assert module.Config.__doc__
    assert callable(module.run)
    with pytest.raises(SystemExit) as stopped:
        cli.main([name, "--help"])
    assert stopped.value.code == 0
    assert f"usage: mpbert {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "stopped")],
)
def test_a_signal_is_one_line(number, code, said, monkeypatch, capsys, rfc_corpus, tmp_path):
    from mpbert.commands import binarize

    monkeypatch.setattr(binarize, "run", lambda config: os.kill(os.getpid(), number))
    assert cli.main(["binarize", str(rfc_corpus), str(tmp_path / "out")]) == code
    assert capsys.readouterr().err == f"mpbert binarize: {said}; what is finished stays\n"


def test_a_name_with_a_line_end_is_refused_in_one_line(capsys):
    assert cli.main(["check", "no\nsuch"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(r"mpbert check: no\nsuch: ") and error.count("\n") == 1


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "mpbert", "no-such"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "unknown command" in found.stderr


OUTPUTS = [["--help"], ["--version"], ["embed", "--help"], ["completion", "bash"]]


def _run_into(output, *words, unbuffered=""):
    command = [sys.executable, "-m", "mpbert", *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    found = subprocess.run(
        command, stdout=output, stderr=subprocess.PIPE, text=True, env=environment
    )
    return found.returncode, found.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", OUTPUTS)
def test_an_output_that_nobody_reads_any_more_ends_it_quietly(words, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as output:
        assert _run_into(output, *words, unbuffered=unbuffered) == (141, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", OUTPUTS)
def test_a_full_output_is_refused_in_one_line(words, unbuffered):
    line = "standard output: cannot be written (No space left on device); write it elsewhere\n"
    place = "mpbert" if len(words) == 1 else f"mpbert {words[0]}"
    with open("/dev/full", "w") as output:
        assert _run_into(output, *words, unbuffered=unbuffered) == (2, f"{place}: {line}")


def test_a_closed_output_is_no_failure():
    command = f"{sys.executable} -m mpbert --version >&-"
    assert subprocess.run(command, shell=True).returncode == 0
