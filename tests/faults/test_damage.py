"""A file taken away, truncated or with one bit flipped: one line that says what to do."""

import re
import shutil

import pytest

from mpbert.cli import main
from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.seeding import named_rng

pytestmark = pytest.mark.slow
# format -> a command that reads it
READERS = {
    "corpus": ["binarize", "corpus", "out"],
    "binary": ["embed", "binary", "encoder", "out", "--device=cpu"],
    "pretrained": ["embed", "binary", "pretrained", "out", "--device=cpu"],
    "encoder": ["build-index", "corpus", "encoder", "vectors", "out"],
    "vectors": ["retrieve", "corpus", "out", "--vectors=vectors"],
    "hyperdoc2vec": ["add-papers", "hyperdoc2vec", "corpus", "out"],
    "runs": ["rerank", "corpus", "out", "--runs", "runs", "runs"],
    "index": ["recommend", "index", "manuscript.txt"],
}
# format -> the command that made it
MAKERS = {
    "corpus": ["build-corpus", "papers.jsonl", "corpus", "--valid-year=2011", "--test-year=2013"],
    "binary": ["binarize", "corpus", "binary", "--vocab-size=300", "--sentence-tokens=12"],
    "vectors": ["embed", "binary", "encoder", "vectors", "--device=cpu"],
    "runs": ["retrieve", "corpus", "runs", "--lexical=bm25", "--top=10"],
    "index": ["build-index", "corpus", "encoder", "vectors", "index"],
}
# another processor rounds the last digits otherwise; runs note an option that is newer than they
MADE_ANEW = {"vectors", "index", "runs"}


def taken_away(path):
    path.unlink()


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def with_a_bit_flipped(path):
    data = bytearray(path.read_bytes())
    bit = int(named_rng(1, "flip", len(data)).integers(8 * len(data)))
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


@pytest.fixture
def place(formats, monkeypatch):
    monkeypatch.chdir(formats)
    (formats / "manuscript.txt").write_text("The router drops a packet [CITATION].")
    return formats


def refusal(words, capsys):
    """Return the one line with which a command refuses its work."""
    capsys.readouterr()
    assert main(words) == 2
    found = capsys.readouterr().err.splitlines()
    assert len(found) == 1, found
    assert found[0].startswith(f"mpbert {words[0]}: ")
    return found[0]


@pytest.mark.parametrize("damage", [taken_away, truncated, with_a_bit_flipped])
@pytest.mark.parametrize("kind", READERS)
def test_every_damaged_file_is_named_in_one_line(kind, damage, place, capsys):
    files = read_manifest(place / kind)["files"]
    if kind == "runs":
        files = [name for name in files if name.endswith(".run")]
    assert files
    for name in files:
        before = (place / kind / name).read_bytes()
        if not before and damage is not taken_away:
            continue
        damage(place / kind / name)
        said = refusal(READERS[kind], capsys)
        assert f"{kind}/{name}: found " in said
        assert f"move {kind} away and make it again with mpbert " in said
        assert not list(place.glob("out*"))
        (place / kind / name).write_bytes(before)
    assert main(READERS[kind]) == 0


@pytest.mark.parametrize("kind", MAKERS)
def test_the_remedy_makes_the_same_bytes_again(kind, place, capsys):
    if kind in MADE_ANEW:
        shutil.move(kind, "fixture")
        assert main(MAKERS[kind]) == 0
    before = fingerprint(place / kind)
    sound = {path: path.read_bytes() for path in (place / kind).rglob("*") if path.is_file()}
    names = read_manifest(place / kind)["files"]
    largest = max((place / kind / name for name in names), key=lambda path: len(sound[path]))
    with_a_bit_flipped(largest)
    said = refusal(READERS[kind], capsys)
    remedy = re.search(r"move (\S+) away and make it again with mpbert (\S+)", said)
    shutil.move(remedy[1], "damaged")
    assert remedy[2] == MAKERS[kind][0]
    assert main(MAKERS[kind]) == 0
    different = {path.name for path, was in sound.items() if path.read_bytes() != was}
    assert different <= {"log.txt"}
    assert fingerprint(place / kind) == before
    assert main(READERS[kind]) == 0


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_manifest_is_one_line(kind, place, capsys):
    path = place / kind / "manifest.json"
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])
    assert f"{kind}: found no readable manifest.json" in refusal(READERS[kind], capsys)
    for name in (b'"format": ', b'"config"', b'"files"'):  # flips of the last bit of what follows
        data = bytearray(text)
        data[text.index(name) + len(name) - 1] ^= 1
        path.write_bytes(data)
        said = refusal(READERS[kind], capsys)
        assert "manifest.json: found other bytes than were" in said or "no readable" in said
        assert not list(place.glob("out*"))
    path.write_bytes(text)
    assert main(READERS[kind]) == 0


@pytest.mark.parametrize("kind", ["corpus", "binary", "encoder", "vectors"])
def test_an_input_taken_away_is_one_line(kind, place, capsys):
    shutil.move(kind, "elsewhere")
    said = refusal(READERS[kind], capsys)
    assert kind in said


@pytest.mark.parametrize("kind", READERS)
def test_check_finds_what_commands_do_not_read(kind, place, capsys):
    assert main(["check", kind]) == 0
    assert "files are as they were written" in capsys.readouterr().out
    with_a_bit_flipped(place / kind / next(iter(read_manifest(place / kind)["files"])))
    assert "found other bytes than were written" in refusal(["check", kind], capsys)
