import os
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import pytest

from mpbert.foundation.config import (
    as_plain_dict,
    from_settings,
    option,
    parse_config,
    positional,
    resolve_settings,
    setting,
)
from mpbert.foundation.errors import ConfigError


@dataclass(frozen=True)
class Config:
    """Do something."""

    input: Path = positional("input", "what to read")
    seed: int = option(1, "seed")
    share: float = option(0.5, "share of 100%")
    limit: Optional[int] = option(None, "limit")
    quick: bool = option(False, "be quick")
    careful: bool = option(True, "be careful")
    splits: list[str] = option(("a",), "splits", nargs="+", choices=["a", "b"])
    train: Optional[str] = option(None, "what to train", nargs="?", const="bag")


def parse(*argv):
    return parse_config(Config, "test", argv)


@pytest.fixture
def write(tmp_path):
    def make(text):
        (tmp_path / "c.yaml").write_text(text)
        return str(tmp_path / "c.yaml")

    return make


def test_a_flag_wins_over_the_file_and_the_file_over_the_default(write):
    path = write("seed: 5\nlimit: 3\n")
    found = parse("in", "--config", path, "--seed=7")
    assert (found.seed, found.limit, found.share) == (7, 3, 0.5)
    assert parse("in", f"--config={path}") == parse("in", "--config", path)
    assert parse("in") == Config(Path("in"))


def test_files_hold_booleans_lists_and_names_with_dashes(write):
    path = write("quick: true\ncareful: false\nsplits: [b, a]\nlimit: null\n")
    found = parse("in", "--config", path)
    assert (found.quick, found.careful, found.splits) == (True, False, ["b", "a"])
    assert parse("in", "--quick", "--no-careful").careful is False


@pytest.mark.parametrize(
    ("words", "train"), [([], None), (["--train"], "bag"), (["--train", "x"], "x")]
)
def test_a_flag_without_its_value_has_the_one_that_stands_for_it(words, train):
    assert parse("in", *words).train == train


def test_a_configuration_as_written_is_read_back(write):
    import yaml

    config = Config(Path("in"), seed=3, limit=4, quick=True)
    values = as_plain_dict(config)
    assert values.pop("input") == "in"
    found = parse("in", "--config", write(yaml.safe_dump(values)))
    assert as_plain_dict(found) == as_plain_dict(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sead: 1", "unknown option 'sead'; expected one of careful, limit, quick, seed"),
        ("input: x", "unknown option 'input'"),
        ("[1, 2]", "found list; expected lines like"),
        ("a: b: c", "unreadable"),
        ("quick: maybe", "quick is 'maybe'; expected true or false"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(write, text, message):
    with pytest.raises(ConfigError, match=message) as error:
        parse("in", "--config", write(text))
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_missing_name_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="unreadable"):
        parse("in", "--config", str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigError, match="--config is the last word"):
        parse("in", "--config")


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ([], "are required"),
        (["in", "--seed=x"], "invalid int value"),
        (["in", "--see=1"], "unrecognized"),
        (["in", "--splits=c"], "invalid choice"),
        (["in", "--seed=--"], "found '--' as a value"),
        (["--", "--"], "found '--' as a value"),
        (["in", "--", "--"], "found '--' as a value"),
    ],
)
def test_wrong_flags_exit_with_2(argv, problem, capsys):
    with pytest.raises(SystemExit) as stopped:
        parse(*argv)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "usage: mpbert test" in error
    assert problem in error.splitlines()[-1]


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64])
def test_a_seed_that_a_generator_would_refuse_is_refused(seed):
    message = rf"^--seed {seed}; expected at least 0 and less than 2\*\*63$"
    with pytest.raises(ConfigError, match=message):
        parse("in", f"--seed={seed}")
    assert [parse("in", f"--seed={edge}").seed for edge in (0, 2**63 - 1)] == [0, 2**63 - 1]


def test_help_shows_defaults(capsys):
    with pytest.raises(SystemExit) as stopped:
        parse("--help")
    assert stopped.value.code == 0
    found = " ".join(capsys.readouterr().out.split())
    assert "share of 100% (default: 0.5)" in found
    assert "Do something." in found


@dataclass
class Method:
    """A method with a setting of each kind."""

    rate: float = 0.5
    draws: int = setting(3, minimum=0)
    pooling: str = setting("mean", choices=("mean", "sum"))
    model: str = "none"
    sums: bool = False


def test_settings_are_read_by_the_types_of_the_fields():
    words = ["rate=1e-3", "draws=0", "pooling=sum", "model=a=b", "sums=true"]
    assert from_settings(Method, words, "m") == Method(0.001, 0, "sum", "a=b", True)
    assert from_settings(Method, [], "m") == Method()
    resolved = resolve_settings(Method, words, "m")
    assert from_settings(Method, resolved, "m") == from_settings(Method, words, "m")
    assert not from_settings(Method, resolve_settings(Method, [], "m"), "m").sums


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("draw=1", "m has no setting 'draw'; expected one of .*did you mean 'draws'"),
        ("draws=x", "found 'x'; expected int"),
        ("draws=-1", "found -1; expected at least 0"),
        ("rate=0", "found 0; expected more than 0"),
        ("rate=nan", "found nan; expected more than 0"),
        ("pooling=max", "found 'max'; expected one of mean, sum"),
        ("sums=no", "found 'no'; expected true or false"),
    ],
)
def test_wrong_settings_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        from_settings(Method, [words], "m")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 2020-99-99", id="no such date"),
        pytest.param("[" * 900, id="deep"),
        pytest.param("a: " + "[\n" * 100_000, id="deeper"),
    ],
)
def test_a_file_of_options_that_cannot_be_read_is_one_line(text, tmp_path, limited):
    from mpbert.commands import build_corpus

    (tmp_path / "a.yaml").write_text(text)
    with limited(3.0), pytest.raises(ConfigError, match=r"a\.yaml: unreadable"):
        parse_config(build_corpus.Config, "x", ["in", "out", "--config", str(tmp_path / "a.yaml")])


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "a\0b", "\ud800", os.fsdecode(b"\xe9")])
def test_a_name_that_no_file_can_have_or_none_can_note_is_refused(name):
    from mpbert.commands import build_corpus

    with pytest.raises(ConfigError, match=r"input: found .*a name too long, with NUL or not UTF-8"):
        parse_config(build_corpus.Config, "x", [name, "out"])


@pytest.mark.parametrize("words", [["s3://bucket/papers", "out"], ["in", "gs://b/x"]])
def test_a_url_is_no_path(words):
    from mpbert.commands import build_corpus

    url = next(word for word in words if "://" in word)
    with pytest.raises(
        ConfigError, match=f"put: found the URL '{url}'; this command expects a path of"
    ):
        parse_config(build_corpus.Config, "x", words)


def test_a_folder_whose_name_has_a_colon_is_a_path(tmp_path, monkeypatch):
    from mpbert.commands import check

    (tmp_path / "run:" / "a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert parse_config(check.Config, "check", ["run:/a"]).directories == [Path("run:/a")]


def test_paths_without_a_name_are_absolute_and_others_as_given(tmp_path, monkeypatch):
    from mpbert.commands import check

    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    found = parse_config(check.Config, "check", [".", "../x"])
    assert found.directories == [tmp_path / "a" / "b", Path("../x")]
    assert parse("..").input == parse("x/../..").input == tmp_path / "a"


def test_odd_words_are_shown_in_one_line(capsys):
    with pytest.raises(SystemExit):
        parse("in", "a\nb\udcff\u2028")
    last = capsys.readouterr().err.splitlines()[-1]
    assert r"unrecognized arguments: a\nb\udcff\u2028; see mpbert test --help" in last
