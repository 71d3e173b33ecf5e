"""The import table of the package: who may import whom, and what a module may weigh."""

import ast
import functools
import graphlib
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mpbert"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in MODULES}
parsed = functools.cache(ast.parse)

# lowest first; a folder may import its own modules and those of folders on lower lines
LAYERS = [
    {"foundation"},
    {"citations"},
    {"corpus"},
    {"vectors"},
    {"pretrained"},
    {"retrieval", "evaluation", "model"},
    {"methods"},
    {"experiments", "recommending"},
    {"serving", "api"},
    {"commands"},
    {"cli"},
]
HEIGHT = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}
# what may be imported beside it: the parts of the foundation, in the order in which they build
FOUNDATION = {
    **{name: set() for name in ("arrays", "command_examples", "errors", "lazy_patterns")},
    "command_help": {"command_examples"},
    **{name: set() for name in ("ragged", "seeding", "training_log")},
    "ragged_rows": {"ragged"},
    "growing_arrays": {"errors"},
    "transposing": {"growing_arrays", "ragged"},
    "registry": {"errors"},
    "extras": {"errors"},
    "logs": {"errors"},
    "progress": {"logs"},
    "option_files": {"errors"},
    "config": {*("command_help", "errors", "logs", "objects", "option_files", "path_checks")},
    "path_checks": {"errors", "objects"},
    "checksums": {"errors"},
    "object_claims": {"errors"},
    "objects": {"checksums", "claims", "errors", "object_claims"},
    "claims": {"errors"},
    "identity": {"checksums", "config"},
    "parts": {"checksums", "claims", "identity"},
    "processes": {"errors"},
    "engines": {"errors", "parts", "processes"},
    "ray_engine": {"engines", "errors", "objects", "parts"},
    "engine_choice": {"config", "engines", "ray_engine"},
    "manifest": {"checksums", "claims", "config", "errors", "identity"},
}
NUMERIC = {"numpy", "scipy", "pandas", "pyarrow"}
FAIRSEQ = {"fairseq", "fairseq_cli", "omegaconf"}
NEURAL = {"torch", "safetensors", "tokenizers", "transformers", "huggingface_hub"}
# folder -> third-party packages that it may import
PACKAGES = {
    "foundation": {
        *("numpy", "pyarrow", "ray", "tqdm", "yaml", "argparse_dataclass", "tensorboard"),
        *("boto3", "botocore", "xxhash"),
    },
    "citations": {"numpy"},
    "corpus": NUMERIC
    | {*("jsonschema", "lxml", "pybtex", "pylatexenc", "pypdfium2", "tokenizers", "yaml")},
    "vectors": {"numpy", "scipy", "pyarrow", "faiss", "safetensors"},
    "pretrained": {"numpy", "pyarrow"} | NEURAL,
    "model": {
        *(
            "numpy",
            "scipy",
            "torch",
            "safetensors",
            "sentence_transformers",
            "tokenizers",
            "tqdm",
            "yaml",
        ),
        *FAIRSEQ,  # of the plug-in alone, see below
    },
    # torch: products of bfloat16
    "retrieval": {"numpy", "scipy", "pyarrow", "faiss", "grpc", "psycopg", "pymilvus", "torch"},
    "evaluation": NUMERIC | {"matplotlib", "ir_measures", "jinja2"},
    "methods": {
        *(NUMERIC | NEURAL),
        *("bm25s", "gensim", "lightgbm", "llvmlite", "numba", "sklearn", "sentence_transformers"),
        "tantivy",
    },
    "experiments": NUMERIC | {"yaml", "tensorboard", "torch"},  # torch: whether there is a GPU
    "recommending": {
        *(NUMERIC | {"markdown_it", "pylatexenc", "safetensors", "sklearn", "watchdog", "yaml"})
    },
    "api": NUMERIC,
    "serving": {
        *("fastapi", "lsprotocol", "mcp", "numpy", "pydantic", "pygls", "starlette", "uvicorn")
    },
    "commands": NUMERIC | {"torch", "tokenizers", "yaml", "shtab"},
}
HEAVY = {"torch", "gensim", "fairseq", "lightgbm"}
MOST_LINES, MEDIAN_LINES = 300, 100  # of a module
# modules whose files may hold code, calls that run it, and what makes the others read none
_CODE_IN_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
_NEVER = {
    *("eval", "exec", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load", "yaml.full_load"),
    *("pd.read_pickle", "pandas.read_pickle", "torch.jit.load", "torch.hub.load"),
    *("KeyedVectors.load", "Word2Vec.load", "Doc2Vec.load", "Doc2VecKeyedVectors.load"),
}
_SAFE_CALLS = {"np.load": {"allow_pickle": "False"}, "torch.load": {"weights_only": "True"}}


@functools.cache
def imports_of(source: str) -> frozenset[str]:
    """Names of all modules that a source imports, wherever in it.

    ``from package import module`` imports the module, not what the package itself holds.
    """
    names = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if is_module(name) else node.module for name in inner}
    return frozenset(names)


def is_module(name: str) -> bool:
    """Whether a name is that of a module or a folder of mpbert."""
    path = ROOT.joinpath(*name.split("."))
    return name.startswith("mpbert.") and (path.is_dir() or path.with_suffix(".py").is_file())


def ours(source: str) -> set[tuple[str, ...]]:
    """Modules of mpbert that a source imports, as their parts below mpbert."""
    names = {name for name in imports_of(source) if name.startswith("mpbert.")}
    return {tuple(name.split(".")[1:]) for name in names}


def theirs(source: str) -> set[str]:
    """Packages of others that a source imports."""
    roots = {name.split(".")[0] for name in imports_of(source)}
    return roots - set(sys.stdlib_module_names) - {"mpbert"}


def wrong_imports(file: str, source: str) -> set[str]:
    """Imports of a file that the table does not allow: upwards, sideways, or of a package."""
    folder, *rest = [part.removesuffix(".py") for part in Path(file).parts[1:]]
    if folder not in HEIGHT:  # __init__, __main__
        return set()
    wrong = {
        ".".join(parts)
        for parts in ours(source)
        if parts[0] != folder and HEIGHT.get(parts[0], len(LAYERS)) >= HEIGHT[folder]
    }
    if folder == "foundation" and rest != ["__init__"]:
        wrong |= {".".join(p) for p in ours(source) if p[1] not in FOUNDATION[rest[0]]}
    if folder == "methods":  # a method knows no other, only what stands in the folder itself
        wrong |= {".".join(p) for p in ours(source) if is_of_another_method(p, rest)}
    if folder == "commands":
        wrong |= {".".join(p) for p in ours(source) if p[0] == "commands"}
    allowed = PACKAGES.get(folder, set())
    if folder == "model" and rest[0] != "fairseq_plugin":
        allowed = allowed - FAIRSEQ
        wrong |= {".".join(p) for p in ours(source) if p[:2] == ("model", "fairseq_plugin")}
    return wrong | (theirs(source) - allowed)


def is_of_another_method(parts: tuple[str, ...], place: list[str]) -> bool:
    """Whether a module is in the folder of a method, seen from a module that is not in it."""
    if parts[0] != "methods" or len(parts) == 1 or parts[1] == place[0]:
        return False
    return (PACKAGE / "methods" / parts[1]).is_dir()


def test_imports_follow_the_table():
    wrong = {file: wrong_imports(file, source) for file, source in SOURCES.items()}
    assert {file: names for file, names in wrong.items() if names} == {}


@pytest.mark.parametrize(
    ("file", "source", "wrong"),
    [
        ("mpbert/corpus/x.py", "import torch", {"torch"}),
        ("mpbert/corpus/x.py", "from mpbert.vectors import store", {"vectors.store"}),
        ("mpbert/citations/x.py", "import mpbert.corpus.store", {"corpus.store"}),
        ("mpbert/evaluation/x.py", "def f():\n    import gensim.models", {"gensim"}),
        ("mpbert/evaluation/x.py", "import mpbert.model.noise", {"model.noise"}),
        ("mpbert/model/x.py", "import fairseq", {"fairseq"}),
        (
            "mpbert/model/x.py",
            "import mpbert.model.fairseq_plugin.compat",
            {"model.fairseq_plugin.compat"},
        ),
        ("mpbert/methods/x.py", "import mpbert.methods.sif.embedder", {"methods.sif.embedder"}),
        (
            "mpbert/methods/dacr/x.py",
            "import mpbert.methods.sif.embedder",
            {"methods.sif.embedder"},
        ),
        ("mpbert/commands/x.py", "import mpbert.commands.report", {"commands.report"}),
        ("mpbert/foundation/errors.py", "import mpbert.foundation.config", {"foundation.config"}),
    ],
)
def test_a_wrong_import_is_caught(file, source, wrong):
    assert wrong_imports(file, source) == wrong


def circle_in(sources: dict[str, str]) -> list[str]:
    """Names of modules of which each imports the one before it; none where there is no circle."""
    graph = {name: imports_of(text) & sources.keys() for name, text in sources.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_way_of_others():
    names = {".".join(Path(file).with_suffix("").parts): text for file, text in SOURCES.items()}
    sources = {name.removesuffix(".__init__"): text for name, text in names.items()}
    assert len(sources) > 100
    assert circle_in(sources) == []


@pytest.mark.parametrize(
    "back",
    [
        "import mpbert.corpus.text",
        "from mpbert.corpus.text import words",
        "from mpbert.corpus import store, text",
        "def late():\n    from mpbert.corpus import text",
        "if TYPE_CHECKING:\n    import mpbert.corpus.text",
    ],
)
def test_a_circle_is_caught_however_it_is_written(back):
    sources = {
        "mpbert.corpus.text": "from mpbert.corpus import store",
        "mpbert.corpus.store": "from mpbert.corpus import splits",
        "mpbert.corpus.splits": back,
    }
    assert len(set(circle_in(sources))) == 3
    assert circle_in({**sources, "mpbert.corpus.splits": "import numpy"}) == []


# the options of each command
_SHARED_NAMES = {"Config"}


def test_a_class_name_stands_for_one_class():
    found = Counter(
        node.name
        for source in SOURCES.values()
        for node in parsed(source).body
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, times in found.items() if times > 1} <= _SHARED_NAMES


def test_every_folder_is_in_the_table():
    found = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert found == set(HEIGHT) - {"cli"} == set(PACKAGES)


def test_every_folder_is_a_package_that_a_wheel_would_hold():
    assert {path.parent for path in MODULES} == {p.parent for p in PACKAGE.rglob("__init__.py")}


@pytest.mark.parametrize("folder", ["citations", "corpus", "vectors", "evaluation"])
def test_what_stands_below_the_model_needs_no_torch(folder):
    sources = [path.read_text(encoding="utf-8") for path in (PACKAGE / folder).rglob("*.py")]
    assert not HEAVY & set().union(*map(theirs, sources))


@pytest.mark.parametrize("module", ["mpbert", "mpbert.cli"])
def test_importing_the_package_loads_nothing_heavy(module):
    code = f"import {module}, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr
    assert not (HEAVY | {"pandas"}) & set(found.stdout.split())


_HELP_OF_EACH = """
import contextlib, io, sys
from mpbert.cli import COMMANDS, main
for command in [None, *COMMANDS]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([command, "--help"] if command else ["--help"])
    print(command or "mpbert", *sys.modules)
"""


def test_no_help_waits_for_a_heavy_import():
    run = [sys.executable, "-c", _HELP_OF_EACH]
    found = subprocess.run(run, capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr
    lines = [line.split() for line in found.stdout.splitlines()]
    heavy = HEAVY | {"pandas", "transformers", "sentence_transformers", "scipy", "faiss"}
    heavy |= {"matplotlib", "sklearn", "jinja2", "numba", "fastapi", "uvicorn"}
    heavy |= {"numpy", "pyarrow", "lxml", "tokenizers", "safetensors"}
    assert len(lines) > 10
    loaded = {line[0]: heavy & set(line[1:]) for line in lines}
    assert not any(loaded.values()), loaded


def test_evaluation_runs_without_torch():
    names = sorted(path.stem for path in (PACKAGE / "evaluation").glob("*.py"))
    modules = ", ".join(f"mpbert.evaluation.{name}" for name in names if name != "__init__")
    code = f"import {modules}, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr
    assert not HEAVY & set(found.stdout.split())


def test_modules_are_short_documented_and_named_for_what_they_hold():
    for file, source in SOURCES.items():
        assert source.count("\n") <= MOST_LINES, file
        assert ast.get_docstring(parsed(source)), file
        assert Path(file).stem not in {"utils", "util", "helpers", "misc", "common"}
        assert not set(Path(file).with_suffix("").parts) & set(sys.stdlib_module_names), file


def test_half_of_the_modules_can_be_read_at_a_glance():
    assert statistics.median(s.count("\n") for s in SOURCES.values()) <= MEDIAN_LINES


def dangers(source: str) -> set[str]:
    """What of a source could execute what stands in a file of a stranger."""
    wrong = _CODE_IN_DATA & {name.split(".")[0] for name in imports_of(source)}
    for node in ast.walk(parsed(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        expected = _SAFE_CALLS.get(called, {})
        if called in _NEVER or not expected.items() <= given.items():
            wrong.add(called)
        if called.startswith("subprocess.") and "shell" in given:
            wrong.add(called)
        loads = "local_files_only" in given and called != "snapshot_download"  # which fetches
        if loads and given.get("trust_remote_code") != "False":
            wrong.add(called)
    return wrong


def test_no_data_is_executed():
    found = {file: dangers(source) for file, source in SOURCES.items()}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "danger"),
    [
        ("import pickle", "pickle"),
        ("from joblib import load", "joblib"),
        ("np.load(path)", "np.load"),
        ("np.load(path, allow_pickle=True)", "np.load"),
        ("torch.load(path, weights_only=False)", "torch.load"),
        ("yaml.load(text)", "yaml.load"),
        ("eval(text)", "eval"),
        ("os.system(text)", "os.system"),
        ("subprocess.run(text, shell=True)", "subprocess.run"),
        ("KeyedVectors.load(path)", "KeyedVectors.load"),
        ("A.from_pretrained(path, local_files_only=True)", "A.from_pretrained"),
    ],
)
def test_what_executes_data_is_caught(source, danger):
    assert dangers(source) == {danger}


def test_recipe_folders_are_no_packages():
    for folder in ("pretrain", "finetune", "datasets", "eval"):
        assert not list((ROOT / folder).rglob("*.py"))
