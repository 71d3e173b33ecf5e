"""The import table of the package: who may import whom, and what a module may weigh."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mpbert"
MODULES = sorted(PACKAGE.rglob("*.py"))
FILES = [str(path.relative_to(ROOT)) for path in MODULES]

# layer 0: what everything may import; each of them imports no more than is said here
BASE = {
    "errors": set(),
    "archives": set(),
    "registry": {"errors"},
    "seeding": set(),
    "logs": {"errors"},
    "progress": {"logs"},
    "command_help": set(),
    "training_log": set(),
    "processes": set(),
    "config": {"errors", "logs", "command_help"},
    "manifest": {"errors", "config"},
}
FAIRSEQ = {"fairseq_compat", "fairseq_dataset"}
# folder -> folders of mpbert that it may import beside its own and layer 0
FOLDERS = {
    "data": set(),
    "vectors": {"data"},
    "modeling": {"vectors", "data"},
    "retrieval": {"vectors", "data"},
    "evaluation": {"data"},
    "baselines": {"vectors", "data", "modeling"},
    "reranking": {"vectors", "data", "modeling", "baselines"},  # the transformers of the baselines
    "recommending": {"vectors", "data", "modeling", "retrieval", "reranking"},
    "serving": {"recommending", "vectors"},
    "pretraining": {"modeling", "data"} | FAIRSEQ,
    "finetuning": {"modeling", "data"} | FAIRSEQ,
    "commands": {
        *("data", "vectors", "modeling", "retrieval", "evaluation", "baselines"),
        *("reranking", "recommending", "serving"),
        "cli",  # completion and docs are of all commands
    },
}
LEAVES = {"fairseq_compat": set(), "fairseq_dataset": {"fairseq_compat", "data"}, "cli": set()}
NUMERIC = {"numpy", "scipy", "pandas", "pyarrow"}
# folder -> third-party packages that it may import
PACKAGES = {
    "data": NUMERIC | {"jsonschema", "lxml", "markdown_it", "pylatexenc", "tokenizers", "yaml"},
    "vectors": {"numpy", "scipy", "pyarrow", "faiss", "safetensors"},
    "modeling": {"numpy", "torch", "safetensors", "sentence_transformers", "tokenizers"},
    "retrieval": {"numpy", "scipy", "pyarrow", "faiss", "bm25s", "sklearn"},
    "evaluation": NUMERIC | {"matplotlib", "ir_measures", "jinja2", "tensorboard", "yaml"},
    "baselines": {
        *("numpy", "scipy", "pyarrow", "gensim", "numba", "sklearn"),
        *("torch", "safetensors", "tokenizers", "transformers", "huggingface_hub"),
        "sentence_transformers",
    },
    "reranking": {"numba", "numpy", "scipy", "torch", "safetensors", "transformers"},
    "recommending": {"numpy", "scipy", "pyarrow", "pylatexenc", "sklearn"},
    "serving": {"fastapi", "numpy", "pydantic", "starlette", "uvicorn"},
    "pretraining": {"numpy", "torch", "fairseq", "omegaconf"},
    "finetuning": {"numpy", "torch", "fairseq", "omegaconf"},
    "commands": NUMERIC | {"torch", "tokenizers", "yaml", "shtab"},
}
LAYER_0_PACKAGES = {"numpy", "tqdm", "yaml", "argparse_dataclass", "tensorboard"}
HEAVY = {"torch", "gensim", "fairseq"}
# modules whose files may hold code, calls that run it, and what makes the others read none
_CODE_IN_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
_NEVER = {
    *("eval", "exec", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load", "yaml.full_load"),
    *("pd.read_pickle", "pandas.read_pickle", "torch.jit.load", "torch.hub.load"),
    *("KeyedVectors.load", "Word2Vec.load", "Doc2Vec.load", "Doc2VecKeyedVectors.load"),
}
_SAFE_CALLS = {"np.load": {"allow_pickle": "False"}, "torch.load": {"weights_only": "True"}}


def imports_of(source: str) -> set[str]:
    """Names of all modules that a source imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.add(node.module)
            if node.module == "mpbert":
                names |= {f"mpbert.{alias.name}" for alias in node.names}
    return names


def ours(source: str) -> set[str]:
    """Parts of mpbert that a source imports: folders and top modules."""
    return {name.split(".")[1] for name in imports_of(source) if name.startswith("mpbert.")}


def theirs(source: str) -> set[str]:
    """Packages of others that a source imports."""
    roots = {name.split(".")[0] for name in imports_of(source)}
    return roots - set(sys.stdlib_module_names) - {"mpbert"}


def wrong_imports(file: str, source: str) -> set[str]:
    parts = Path(file).parts[1:]
    part = parts[0].removesuffix(".py")
    if part in FOLDERS:
        wrong = ours(source) - FOLDERS[part] - {part} - set(BASE)
        return wrong | (theirs(source) - PACKAGES[part])
    if part in BASE:
        return (ours(source) - BASE[part]) | (theirs(source) - LAYER_0_PACKAGES)
    if part in LEAVES:
        return ours(source) - LEAVES[part] - set(BASE)
    return ours(source) - {"cli"}  # __init__, __main__


@pytest.mark.parametrize("file", FILES)
def test_imports_follow_the_table(file):
    assert wrong_imports(file, (ROOT / file).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("file", "source", "wrong"),
    [
        ("mpbert/data/x.py", "import torch", {"torch"}),
        ("mpbert/data/x.py", "from mpbert.vectors.store import VectorStore", {"vectors"}),
        ("mpbert/evaluation/x.py", "def f():\n    import gensim.models", {"gensim"}),
        ("mpbert/modeling/x.py", "import mpbert.fairseq_compat", {"fairseq_compat"}),
        ("mpbert/pretraining/x.py", "from mpbert import finetuning", {"finetuning"}),
        ("mpbert/errors.py", "from mpbert.config import option", {"config"}),
    ],
)
def test_a_wrong_import_is_caught(file, source, wrong):
    assert wrong_imports(file, source) == wrong


def test_every_folder_is_in_the_table():
    found = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert found == set(FOLDERS)


def test_every_folder_is_a_package_that_a_wheel_would_hold():
    assert {path.parent for path in MODULES} == {p.parent for p in PACKAGE.rglob("__init__.py")}


@pytest.mark.parametrize("folder", ["data", "vectors", "evaluation"])
def test_data_vectors_and_evaluation_need_no_torch(folder):
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
    heavy = HEAVY | {"pandas", "transformers", "sentence_transformers", "scipy.stats"}
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


@pytest.mark.parametrize("file", FILES)
def test_modules_are_short_documented_and_named_for_what_they_hold(file):
    source = (ROOT / file).read_text(encoding="utf-8")
    assert source.count("\n") <= 400
    assert ast.get_docstring(ast.parse(source))
    assert Path(file).stem not in {"utils", "util", "helpers", "misc", "common"}
    assert Path(file).stem not in sys.stdlib_module_names


def dangers(source: str) -> set[str]:
    """What of a source could execute what stands in a file of a stranger."""
    wrong = {name for name in theirs_and_standard(source) if name in _CODE_IN_DATA}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        expected = _SAFE_CALLS.get(called, {})
        if called in _NEVER or not expected.items() <= given.items():
            wrong.add(called)
        if called.startswith("subprocess.") and "shell" in given:
            wrong.add(called)
        if "local_files_only" in given and given.get("trust_remote_code") != "False":
            wrong.add(called)
    return wrong


def theirs_and_standard(source: str) -> set[str]:
    """First parts of the names of all modules that a source imports."""
    return {name.split(".")[0] for name in imports_of(source)}


@pytest.mark.parametrize("file", [*FILES, "pretrain/mpbert_fairseq/__init__.py"])
def test_no_data_is_executed(file):
    assert dangers((ROOT / file).read_text(encoding="utf-8")) == set()


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
        found = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}
        assert found <= {"pretrain/mpbert_fairseq/__init__.py"}
