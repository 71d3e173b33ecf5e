"""Without the extras: what needs none works, all else says in one line what to install."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mpbert.foundation.command_examples import HELP
from mpbert.foundation.extras import EXTRAS, missing_package

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "fixtures" / "formats"
# a program that runs commands where no package of an extra can be imported
_WITHOUT = """
import contextlib, json, sys
from mpbert.foundation.command_examples import HELP
from mpbert.foundation.errors import MissingPackageError
from mpbert.foundation.extras import EXTRAS
present = json.loads(sys.argv[2])
missing = {name for extra, names in EXTRAS.items() if extra not in present for name in names}

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nowhere())
from mpbert.cli import main
for words in json.loads(sys.argv[1]):
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code or 0
    print("exit", words[0], code, file=sys.stderr)
print("loaded", *sys.modules, file=sys.stderr)
"""


@pytest.fixture
def without(tmp_path):
    def run(*commands, present=()):
        words = [[str(word) for word in command] for command in commands]
        return subprocess.run(
            [sys.executable, "-c", _WITHOUT, json.dumps(words), json.dumps(present)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HOME": str(tmp_path)},
        )

    return run


def exits(found):
    return dict(re.findall(r"^exit (\S+) (\S+)$", found.stderr, re.MULTILINE))


# commands that import packages of an extra before they know what is asked
_OF_EXTRAS = {
    *("validate", "build-corpus", "fit", "add-papers", "retrieve", "rerank", "tune", "make-rows"),
    *("evaluate", "compare", "misses", "report"),
}


def test_helps_show_or_name_the_extra(without):
    found = without(["--help"], *([name, "--help"] for name in HELP))
    codes = exits(found)
    assert codes.keys() == {"--help", *HELP}, found.stderr[-2000:]
    refused = {name for name, code in codes.items() if code != "0"}
    assert refused <= _OF_EXTRAS
    named = re.findall(r"^mpbert (\S+): found no package \w+; expected", found.stderr, re.MULTILINE)
    assert set(named) == refused


@pytest.mark.parametrize("index", ["index_2", "library", "library_2"])
def test_the_base_install_recommends_and_loads_no_package_of_an_extra(index, without, tmp_path):
    (tmp_path / "text.txt").write_text("The router drops a packet [CITATION].")
    asked = (["recommend", FORMATS / index, "text.txt", "--top", "2"],)
    found = without(*asked)
    assert exits(found) == {"recommend": "0"}, found.stderr[-2000:]
    assert "place 1: The router drops a packet." in found.stdout
    everything = without(*asked, present=[*EXTRAS])  # nor where they are installed
    assert everything.stdout == found.stdout
    (loaded,) = re.findall("^loaded (.*)", everything.stderr, re.MULTILINE)
    assert not {name for names in EXTRAS.values() for name in names} & set(loaded.split())


# format -> a library, the name of a file with one more paper, its id, and what is in it
_TITLE = "Bridges learn trees"
_LIBRARIES = {
    "bibtex": ("library.bib", "a.bib", "new", f"@misc{{new, title={{{_TITLE}}}, year=2001}}"),
    "csl": (
        "library.json",
        "a.json",
        "new",
        f'[{{"id": "new", "type": "book", "title": "{_TITLE}"}}]',
    ),
    "ris": ("library.ris", "a.ris", "new", f"TY  - JOUR\nID  - new\nTI  - {_TITLE}\nER  - \n"),
    "csv": ("", "papers.csv", "new", f"paper_id,title,abstract\nnew,{_TITLE},{_TITLE}.\n"),
    "openalex": (
        *("works.jsonl", "a.jsonl", "W99"),
        f'{{"id": "https://openalex.org/W99", "title": "{_TITLE}", "referenced_works": []}}\n',
    ),
    "crossref": (
        *("works.jsonl", "a.jsonl", "10.5555/new"),
        f'{{"DOI": "10.5555/new", "prefix": "10.5555", "title": ["{_TITLE}"]}}\n',
    ),
    "formats": (
        *("papers.jsonl", "a.jsonl", "new"),
        f'{{"paper_id": "new", "title": "{_TITLE}", "year": 2001, "authors": [], '
        f'"abstract": ["{_TITLE}."], "sections": []}}\n',
    ),
}


@pytest.mark.parametrize("form", _LIBRARIES)
def test_the_base_install_makes_changes_asks_and_cites_with_an_index(form, without, tmp_path):
    library, name, paper_id, content = _LIBRARIES[form]
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / name).write_text(content)
    (tmp_path / "text.txt").write_text(f"{_TITLE} and more [CITATION].")
    (tmp_path / "a.tex").write_text("So it is [CITATION].\n\\bibliography{refs}\n")
    (tmp_path / "refs.bib").touch()
    found = without(
        ["index", FORMATS.parent / form / library, "index"],
        ["add", "index", "more"],
        ["recommend", "index", "text.txt", "--top", "1"],
        ["cite", "index", "a.tex", "--place", "1", "--papers", paper_id, "--yes"],
        ["check", "index"],
    )
    assert set(exits(found).values()) == {"0"}, found.stderr[-2000:]
    assert _TITLE in found.stdout.partition("place 1: ")[2]
    assert (
        _TITLE in (tmp_path / "refs.bib").read_text()
        and "cite{" in (tmp_path / "a.tex").read_text()
    )
    gone = without(["remove", "index", paper_id], ["recommend", "index", "text.txt"])
    assert set(exits(gone).values()) == {"0"}, gone.stderr[-2000:]
    assert _TITLE not in gone.stdout.partition("place 1: ")[2].partition("\n")[2]


def test_the_base_install_makes_and_changes_an_index_of_a_token_bag(without, tmp_path):
    encoder = FORMATS / "index_2" / "encoder"
    found = without(
        ["index", FORMATS / "papers.jsonl", "index", "--encoder", encoder],
        ["add", "index", FORMATS / "more.jsonl"],
        ["remove", "index", "P31"],
    )
    assert set(exits(found).values()) == {"0"}, found.stderr[-2000:]


def test_pdf_files_need_no_other_extra(without, tmp_path):
    found = without(["index", FORMATS.parent / "pdf", "index"], present=["pdf"])
    assert exits(found) == {"index": "0"}, found.stderr[-2000:]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("refs.bib", "@misc{own, title={On the key of routers 0}, year=2000}"),
        ("refs.json", '[{"id": "own", "type": "article", "title": "On the key of routers 0"}]'),
        ("refs.ris", "TY  - JOUR\nID  - own\nTI  - On the key of routers 0\nER  - \n"),
    ],
)
def test_the_base_install_matches_a_bibliography(without, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / "a.md").write_text(f"---\nbibliography: {name}\n---\nRouters drop it [@own].")
    found = without(["recommend", FORMATS / "index_2", "a.md", "--top", "1"])
    assert exits(found) == {"recommend": "0"}, found.stderr[-2000:]
    assert "  already cited here: P00 as own\n" in found.stdout


def test_the_base_install_cites_a_paper_by_its_key_in_the_bibliography(without, tmp_path):
    (tmp_path / "refs.bib").write_text("@misc{own, title={On the key of routers 0}, year=2000}\n")
    text = "Routers drop packets [CITATION].\n\\bibliography{refs}\n"
    (tmp_path / "a.tex").write_text(text)
    asked = ["cite", FORMATS / "index_2", "a.tex", "--place", "1", "--papers", "P00", "--yes"]
    assert exits(without(asked)) == {"cite": "0"}
    assert (tmp_path / "a.tex").read_text() == text.replace("[CITATION]", "\\cite{own}")
    assert (tmp_path / "refs.bib").read_text().count("@") == 1


_SERVED = """
import asyncio, httpx2, sys
from pathlib import Path
from mpbert.serving.limits import Limits
from mpbert.serving.server import Service, open_app
from mpbert.foundation.errors import MissingPackageError
from mpbert.foundation.extras import EXTRAS
app = open_app(Service(Path(sys.argv[1]), Limits()))

async def ask():
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://h") as c:
        for path in ("/", "/api/map", "/api/index", "/api/papers?query=name"):
            assert (await c.get(path)).status_code == 200, path
        found = await c.post("/api/recommend", json={"text": "The router drops a packet"})
        print(len(found.json()["papers"]))

asyncio.run(ask())
print(*{name for names in EXTRAS.values() for name in names} & set(sys.modules))
"""


def test_a_server_loads_no_package_of_an_extra(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", _SERVED, str(FORMATS / "index_2")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    )
    assert found.stdout == "10\n\n", found.stderr[-2000:]


_PYTHON = """
import mpbert
recommender = mpbert.Recommender(sys.argv[1])
found = recommender.recommend("The router drops a packet", top=3)
print(found, len(recommender.papers), found._repr_html_().count("<tr>"))
for act in (found.to_pandas, recommender.papers.to_pandas, lambda: mpbert.Corpus):
    try:
        act()
    except MissingPackageError as error:
        print(error)
"""


def test_the_base_install_recommends_in_python_and_names_the_extra_of_tables():
    code = _WITHOUT.partition("from mpbert.cli")[0] + _PYTHON
    words = [sys.executable, "-c", code, FORMATS / "index_2", "[]"]
    found = subprocess.run(words, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    lines = found.stdout.splitlines()
    assert len(lines) == 8, found.stderr[-2000:]
    assert lines[0].split()[:3] == ["rank", "score", "likely"] and lines[4].endswith(" 30 4")
    line = "found no package {0}; expected that of the extra '{1}': pip install 'mpbert[{1}]'"
    assert set(lines[5:7]) == {line.format("pandas", "tables")}
    assert lines[7] == line.format("pyarrow", "corpus")  # it brings pandas, too


def test_what_is_no_package_of_an_extra_stays_an_import_error(monkeypatch):
    import mpbert

    monkeypatch.setitem(sys.modules, "mpbert.recommending.recommender", None)
    monkeypatch.delitem(mpbert.__dict__, "Recommender", raising=False)
    with pytest.raises(ModuleNotFoundError):
        _ = mpbert.Recommender


def test_corpora_are_built_and_rankings_measured_with_one_extra(without, tmp_path):
    qrels, ranked = FORMATS / "corpus" / "qrels.test.txt", FORMATS / "runs" / "test.run"
    years = ("--valid-year", "2011", "--test-year", "2013")
    vectors = FORMATS / "vectors"
    found = without(
        ["validate", FORMATS / "papers.jsonl"],
        ["build-corpus", FORMATS / "papers.jsonl", "corpus", *years],
        ["binarize", "corpus", "binary", "--vocab-size", "300"],
        ["retrieve", FORMATS / "corpus", "runs", "--vectors", vectors, "--top", "9"],
        ["evaluate", qrels, "runs/test.run"],
        ["compare", qrels, "runs/test.run", ranked, "--measures", "MAP@10"],
        present=["tables", "corpus"],
    )
    assert set(exits(found).values()) == {"0"}, found.stderr[-2000:]


CONFIG = ROOT / "finetune" / "configs" / "token_bag.yaml"


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["fit", FORMATS / "corpus", "v", "--method", "word2vec"], "baselines"),
        (["embed-sentences", FORMATS / "corpus", FORMATS / "encoder", "s"], "train"),
        (["recommend", FORMATS / "index", "text.txt"], "train"),  # its encoder has levels
        (["retrieve", FORMATS / "corpus", "r", "--vectors", "v"], "corpus"),
        (["binarize", FORMATS / "corpus", "b"], "corpus"),
        (["export-vectors", FORMATS / "vectors", "w"], "corpus"),
        (["recommend", "file:///index", "text.txt"], "corpus"),
        (["finetune", FORMATS / "binary", CONFIG, "e"], "train"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(without, words, extra, tmp_path):
    (tmp_path / "text.txt").write_text("The router drops a packet [CITATION].")
    if words[0] not in HELP:
        pytest.skip(f"no command {words[0]}")
    earlier = {"baselines": ["tables", "corpus", "train"]}  # what the extra brings besides
    found = without(words, present=earlier.get(extra, ()))
    (line, last) = found.stderr.splitlines()[-3:-1]
    assert last == f"exit {words[0]} 2"
    assert re.fullmatch(
        rf"mpbert {words[0]}: found no package \w+; expected that of the extra '{extra}': "
        rf"pip install 'mpbert\[{extra}\]'(, then pip install --no-deps fairseq==0\.12\.2)?",
        line,
    )
    assert "Traceback" not in found.stderr


def test_the_last_line_is_json_where_the_log_is(without):
    found = without(["--log", "json", "fit", FORMATS / "corpus", "v", "--method", "sif"])
    line = json.loads(found.stderr.splitlines()[-3])
    assert (line["error"], line["exit_code"]) == ("MissingPackageError", 2)


def test_a_package_of_no_extra_is_an_error_of_the_program():
    assert missing_package(ModuleNotFoundError(name="numpy")) is None
    assert missing_package(ValueError("no module")) is None
    found = str(missing_package(ModuleNotFoundError(name="fairseq.data")))
    assert found.endswith("pip install 'mpbert[train]', then pip install --no-deps fairseq==0.12.2")


# where a package is imported under another name than that by which pip knows it
_IMPORTED = {"hydra": "hydra-core", "sklearn": "scikit-learn", "faiss": "faiss-cpu"}

# no recipe needs them: tests/run.sh installs them, setup.sh does not
_BESIDE = ("milvus", "pgvector", "ray", "s3", "servers", "words")


def names_of(requirements):
    return {re.match(r"[\w.-]+", line)[0].lower() for line in requirements}


def required(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line.partition(" #")[0] for line in lines if not line.startswith("#")]


def test_the_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, imported in EXTRAS.items():
        needed = {_IMPORTED.get(name, name).replace("_", "-") for name in imported}
        assert needed - {"fairseq", "fairseq-cli"} <= names_of(extras[extra])
    everything = names_of(project["dependencies"])
    needed = {name: of for name, of in extras.items() if name not in _BESIDE}
    everything |= {name for names in needed.values() for name in names_of(names)} - {"mpbert"}
    assert everything == names_of(required("requirements.txt"))
    beside = [line for name in _BESIDE for line in extras[name] if not line.startswith("mpbert[")]
    assert sorted(beside) == sorted(required("tests/servers.txt"))
