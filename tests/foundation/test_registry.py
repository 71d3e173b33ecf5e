import subprocess
import sys
import types

import pytest

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.registry import Registry


@pytest.fixture
def fruits():
    registry = Registry("fruit")
    for name in ("pear", "apple"):
        registry.register(type(name, (), {"name": name}))
    return registry


def test_members_are_found_by_name_and_listed_sorted(fruits):
    assert fruits["pear"].name == "pear"
    assert fruits.names() == ["apple", "pear"]


def test_an_unknown_name_lists_all_and_suggests_the_closest(fruits):
    with pytest.raises(ConfigError) as error:
        fruits["appel"]
    expected = "unknown fruit 'appel'; expected one of apple, pear; did you mean 'apple'?"
    assert str(error.value) == expected
    with pytest.raises(ConfigError, match=r"expected one of apple, pear$"):
        fruits["xyz"]


def test_a_name_cannot_be_taken_twice(fruits):
    with pytest.raises(ValueError, match="two members of fruit are called 'pear'"):
        fruits.register(type("Other", (), {"name": "pear"}))


def test_a_member_without_a_name_is_refused(fruits):
    with pytest.raises(ValueError, match="Nameless has no name; give it one"):
        fruits.register(type("Nameless", (), {}))


@pytest.fixture
def garden(tmp_path, monkeypatch):
    """A package whose modules register fruits, some of them in folders."""
    text = "from test_fruits import FRUITS\n@FRUITS.register\nclass Fruit:\n    name = {name!r}\n"
    for place in ("pear", "trees/apple", "trees/tall/plum", "bush/picker", "bush/leaf"):
        path = tmp_path / "garden" / f"{place}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(name=place.split("/")[-1]))
        for folder in path.relative_to(tmp_path).parents[:-1]:
            (tmp_path / folder / "__init__.py").touch()
    module = types.ModuleType("test_fruits")
    monkeypatch.setitem(sys.modules, "test_fruits", module)
    monkeypatch.syspath_prepend(tmp_path)
    yield module
    for name in [name for name in sys.modules if name.split(".")[0] == "garden"]:
        del sys.modules[name]


def test_members_are_found_in_all_modules_of_a_package_and_its_folders(garden):
    garden.FRUITS = Registry("fruit", "garden")
    assert garden.FRUITS.names() == ["apple", "leaf", "pear", "picker", "plum"]


def test_members_are_found_in_one_module_of_each_folder(garden):
    garden.FRUITS = Registry("fruit", "garden", "picker")
    assert garden.FRUITS.names() == ["picker"]


def test_names_are_read_without_importing_members(garden):
    garden.FRUITS = Registry("fruit", "garden")
    names = garden.FRUITS.names()
    assert "garden.pear" not in sys.modules
    assert [garden.FRUITS[name].name for name in names] == names == garden.FRUITS.names()


@pytest.mark.parametrize(
    "text",
    [
        "@FRUITS.register\nclass Fig:\n    name = 'f' + 'ig'\n",
        "class Fig:\n    name = 'fig'\nFRUITS.register(Fig)\n",
        "@FRUITS.register\nclass Fig:\n    pass\n\nclass Other:\n    name = 'other'\n",
    ],
)
def test_a_module_whose_names_cannot_be_read_is_imported(garden, tmp_path, text):
    before = "from test_fruits import FRUITS\n"
    if "pass" in text:
        before += "class Base:\n    name = 'fig'\n"
        text = text.replace("class Fig:", "class Fig(Base):")
    (tmp_path / "garden" / "fig.py").write_text(before + text)
    garden.FRUITS = Registry("fruit", "garden")
    assert garden.FRUITS.names() == ["apple", "fig", "leaf", "pear", "picker", "plum"]


@pytest.mark.parametrize(
    "family",
    [
        "mpbert.corpus.formats.base.READERS",
        "mpbert.methods.embedding.EMBEDDERS",
        "mpbert.methods.lexical.method.LEXICAL",
        "mpbert.methods.reranking.RERANKERS",
    ],
)
def test_each_family_is_named_as_its_members_are(family):
    module, _, name = family.rpartition(".")
    code = (
        f"from {module} import {name} as family; names = family.names()\n"
        f"assert len(names) > 2 and [family[name].name for name in names] == names\n"
        f"assert family.names() == names"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
