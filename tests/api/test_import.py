"""``import mpbert`` takes no time, and each name is there when it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import mpbert

ROOT = Path(__file__).parents[2]


def python(code):
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_all_names_are_there_and_listed():
    assert sorted(mpbert.__all__) == ["Corpus", "Encoder", "Recommender", "compare", "evaluate"]
    assert set(mpbert.__all__) <= set(dir(mpbert))
    for name in mpbert.__all__:
        assert getattr(mpbert, name).__module__ == mpbert._MODULES[name]


def test_the_stub_names_what_the_package_has():
    stub = (ROOT / "mpbert" / "__init__.pyi").read_text(encoding="utf-8")
    for name in mpbert.__all__:
        home = getattr(mpbert, name).__module__
        assert f"from {home} import {name} as {name}\n" in stub


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'mpbert' has no attribute 'Retriever'"):
        _ = mpbert.Retriever
    with pytest.raises(ImportError, match="Retriever"):
        from mpbert import Retriever  # noqa: F401


def test_the_import_is_fast_and_loads_no_other_package():
    code = "import sys, time; a = time.perf_counter(); import mpbert; b = time.perf_counter()\n"
    code += "print(b - a, *sys.modules)"
    seconds, *modules = min((python(code).split() for _ in range(3)), key=lambda x: float(x[0]))
    assert float(seconds) < 0.15
    roots = {name.partition(".")[0] for name in modules}
    assert not roots & {"numpy", "pandas", "pyarrow", "torch", "yaml"}


def test_measuring_needs_neither_torch_nor_an_encoder():
    code = "import mpbert, sys; mpbert.evaluate({'q': ['a']}, {'q': ['a']}); print(*sys.modules)"
    assert "torch" not in python(code).split()
