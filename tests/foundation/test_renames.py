import dataclasses
import importlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpbert import cli
from mpbert.foundation import renames
from mpbert.foundation.config import (
    from_settings,
    option,
    parse_config,
    positional,
    setting,
)
from mpbert.foundation.errors import ConfigError, OutputError
from mpbert.foundation.manifest import (
    MANIFEST,
    fingerprint,
    is_finished,
    output_directory,
    read_manifest,
)

OLD_OPTIONS = [(command, old) for command, names in renames.OPTIONS.items() for old in names]


@dataclass(frozen=True)
class Fit:
    """Stands for a command that has renamed an option."""

    corpus: Path = positional("corpus", "read")
    output: Path = positional("output", "written")
    method: str = option("word2vec", "which")
    seed: int = option(1, "seed")


@dataclass(frozen=True)
class OldFit:
    """The same command before it did."""

    corpus: Path
    output: Path
    baseline: str = "word2vec"
    seed: int = 1


@pytest.fixture
def old_output(tmp_path):
    """Output of the old command, with a sealed manifest."""
    (tmp_path / "corpus").write_text("papers")
    config = OldFit(tmp_path / "corpus", tmp_path / "out")
    with output_directory(config.output, "fit-baseline", config, [config.corpus]) as out:
        (out.path / "papers.npy").write_text("vectors")
    return config.output


@pytest.mark.parametrize("old", renames.COMMANDS)
def test_an_old_command_is_refused_with_its_new_name(old, capsys):
    now = renames.COMMANDS[old]
    assert now in cli.COMMANDS and old not in cli.COMMANDS
    assert cli.main([old, "a", "b"]) == 2
    found = capsys.readouterr().err
    assert found == f"mpbert: {old} is called {now} now; write mpbert {now} ...\n"


@pytest.mark.parametrize(("command", "old"), OLD_OPTIONS)
def test_an_old_flag_is_refused_with_its_new_name(command, old, capsys):
    module = importlib.import_module("mpbert.commands." + command.replace("-", "_"))
    fields = {field.name: field for field in dataclasses.fields(module.Config)}
    now = renames.new_option(command, old)
    if now not in fields:
        pytest.skip(f"mpbert {command} has no option {now}")
    old_flag, flag = ("--" + name.replace("_", "-") for name in (old, now))
    assert old not in fields
    for words in ([old_flag, "7"], [f"{old_flag}=7"]):
        assert cli.main([command, "a", "b", *words]) == 2
        found = capsys.readouterr().err
        value = words[0].removeprefix(old_flag)
        said = f"called {flag} now; write {flag}{value}\n"
        if "args" in fields[now].metadata:
            said = f"the argument {now.upper()} now; write its value without a flag, "
        assert found.startswith(f"mpbert {command}: {old_flag} is {said}")
        assert found.count("\n") == 1


def test_an_old_flag_may_be_an_argument_by_now():
    @dataclass(frozen=True)
    class Report:
        corpus: Path = positional("corpus", "read")
        rows: Path = positional("rows", "read too")

    with pytest.raises(ConfigError, match=r"--conditions is the argument ROWS now; write its val"):
        parse_config(Report, "report", ["a", "--conditions", "b"])


def test_a_file_may_be_called_as_an_option_was():
    found = parse_config(Fit, "fit", ["baseline", "b", "--method", "baseline"])
    assert (found.corpus, found.method) == (Path("baseline"), "baseline")


def test_an_old_key_of_a_configuration_is_refused_with_its_new_name(tmp_path):
    path = tmp_path / "fit.yaml"
    path.write_text("baseline: sif\n")
    with pytest.raises(ConfigError, match=r"fit.yaml: baseline is called method now; write meth"):
        parse_config(Fit, "fit", ["a", "b", "--config", str(path)])


def test_a_name_is_old_in_its_own_command_alone():
    assert renames.new_option("fit", "--baseline") == "--method"
    assert renames.new_option("retrieve", "--baseline") == "--baseline"
    assert renames.new_option("binarize", "max_tokens") == "sentence_tokens"
    assert renames.new_option("embed", "--max-tokens") == "--batch-tokens"
    assert renames.new_option("retrieve", "max_tokens") == "max_tokens"


def test_an_old_output_is_known_as_finished(old_output, tmp_path):
    before = (old_output / MANIFEST).read_bytes()
    assert b'"fit-baseline"' in before and b'"baseline"' in before
    now = Fit(tmp_path / "corpus", old_output)
    assert is_finished(old_output, "fit", now, [now.corpus])
    assert (old_output / MANIFEST).read_bytes() == before  # what is made from it stays finished too


@pytest.mark.parametrize(
    ("changed", "what"), [({"method": "sif"}, "config"), ({"seed": 2}, "config")]
)
def test_an_old_output_that_was_made_otherwise_is_not(old_output, tmp_path, changed, what):
    now = Fit(tmp_path / "corpus", old_output, **changed)
    with pytest.raises(OutputError, match=f"made with another {what}"):
        is_finished(old_output, "fit", now, [now.corpus])
    with pytest.raises(OutputError, match="made with another command"):
        is_finished(old_output, "retrieve", Fit(now.corpus, old_output), [now.corpus])


def test_an_old_manifest_is_read_with_the_new_names(old_output):
    found = read_manifest(old_output)
    assert found["command"] == "fit"
    assert found["config"] == {"corpus": "corpus", "method": "word2vec", "seed": 1}
    assert set(found) == set(json.loads((old_output / MANIFEST).read_bytes())) - {"checksum"}


def test_an_output_has_one_fingerprint_under_old_and_new_names(old_output, tmp_path):
    now = Fit(tmp_path / "corpus", tmp_path / "again")
    with output_directory(now.output, "fit", now, [now.corpus]) as out:
        (out.path / "papers.npy").write_text("vectors")
    assert b'"method"' in (now.output / MANIFEST).read_bytes()
    assert fingerprint(now.output) == fingerprint(old_output)
    other = Fit(tmp_path / "corpus", tmp_path / "other", "sif")
    with output_directory(other.output, "fit", other, [other.corpus]) as out:
        (out.path / "papers.npy").write_text("vectors")
    assert fingerprint(other.output) != fingerprint(old_output)


def test_there_and_back_a_manifest_is_the_same(old_output):
    written = json.loads((old_output / MANIFEST).read_bytes())
    there = renames.with_new_names(written)
    assert there != written
    assert json.dumps(renames.with_old_names(there)) == json.dumps(written)


@pytest.mark.parametrize("odd", [{}, {"command": 3}, {"command": "fit", "config": [1]}])
def test_what_is_no_manifest_of_ours_stays_as_it_is(odd):
    assert renames.with_new_names(odd) == odd


def test_no_present_name_is_an_old_one():
    assert not renames.COMMANDS.keys() & set(renames.COMMANDS.values())
    for command, names in renames.OPTIONS.items():
        assert command in cli.COMMANDS
        assert not names.keys() & set(names.values())


def test_settings_of_an_old_output_are_read_under_their_new_names_and_back():
    config = {"baseline": "sbert", "settings": ["epochs=2", "max_tokens=8192"], "seed": 1}
    old = {"command": "fit-baseline", "config": config}
    new = renames.with_new_names(old)
    assert new["config"]["settings"] == ["epochs=2", "batch_tokens=8192"]
    assert renames.with_old_names(new) == old


def test_an_old_setting_is_refused_with_its_new_name():
    @dataclass
    class Method:
        batch_tokens: int = setting(8192)

    with pytest.raises(ConfigError, match="max_tokens is called batch_tokens now; give batch_tok"):
        from_settings(Method, ["max_tokens=3"], "a method")
