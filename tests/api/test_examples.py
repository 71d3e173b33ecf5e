"""The examples of the front door run as they are printed, in a folder as users have it."""

import doctest
import importlib
import inspect
import shutil

import pytest

import mpbert

MODULES = {
    "api": ("corpus", "encoder", "measuring", "comparison"),
    "recommending": ("answering", "answers", "papers", "places", "recommender"),
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in (f"mpbert.{folder}.{name}" for folder in MODULES for name in MODULES[folder]):
        found = finder.find(importlib.import_module(name))
        yield from (example for example in found if example.examples)


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_an_example_runs_as_it_is_printed(example, outputs, rfc_archive, tmp_path, monkeypatch):
    for folder in (outputs / "runs").iterdir():
        (tmp_path / "runs" / folder.name).parent.mkdir(exist_ok=True)
        (tmp_path / "runs" / folder.name).symlink_to(folder)
    (tmp_path / "datasets/rfc").mkdir(parents=True)
    if "build" in example.name:  # of the part of the sample that all tests are of
        (tmp_path / "runs/corpus").unlink()
        shutil.copy(rfc_archive, tmp_path / "datasets/rfc/rfc-593.tar.xz")
    monkeypatch.chdir(tmp_path)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert report == []


def public_members():
    for name in mpbert.__all__:
        found = getattr(mpbert, name)
        yield name, found
        if inspect.isclass(found):
            for member, value in vars(found).items():
                if not member.startswith("_") and (callable(value) or hasattr(value, "__doc__")):
                    yield f"{name}.{member}", value


@pytest.mark.parametrize(("name", "member"), list(public_members()))
def test_what_is_public_has_an_example(name, member):
    doc = inspect.getdoc(member)
    assert doc and ">>> " in doc
