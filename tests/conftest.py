"""Fixtures for all tests: a corpus store of real RFCs, built once per session."""

import gc
import inspect
import io
import json
import multiprocessing
import os
import shutil
import signal
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from mpbert.commands import binarize, build_corpus, index
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.experiments import measured
from tests.forked import forked_programs

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

REPOSITORY = Path(__file__).parents[1]
RFC_ARCHIVE = REPOSITORY / "datasets" / "rfc" / "rfc-593.tar.xz"

# A shell lets what it starts with & ignore SIGINT, and what that starts would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


_MICRO = {
    "pretrain": [
        *("--task=mpbert_pretrain", "--arch=mpbert_hibert", "--criterion=mpbert_masked_sentences"),
        *("--dim=16", "--ffn-dim=32", "--num-heads=2", "--sentence-layers=1"),
        *("--document-layers=1", "--decoder-layers=1", "--attention-dropout=0"),
        *("--block-sentences=12", "--max-valid=5", "--max-tokens=36000"),
    ],
    "finetune": [
        *("--task=mpbert_finetune", "--arch=mpbert_two_tower"),
        *("--criterion=mpbert_multi_positive", "--max-valid=20", "--max-tokens=45000"),
        *("--manuscript-sentences=4", "--abstract-sentences=1", "--body-sentences=1"),
    ],
}
# what a forked process executes; kill_at: the number of updates after which it gets a signal
_TRAIN = """
import os, signal, sys
os.environ.update(environment)
file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.dup2(file, 1), os.dup2(file, 2)
sys.argv = ["train", *flags]
import torch
import mpbert.model.fairseq_plugin.compat
from fairseq.trainer import Trainer
torch.set_num_threads(1)
train_step = Trainer.train_step
def train_step_or_die(self, *arguments, **named):
    if self.get_num_updates() == kill_at:
        os.kill(os.getpid(), number)
    return train_step(self, *arguments, **named)
Trainer.train_step = train_step_or_die
mpbert.model.fairseq_plugin.compat.main()
"""


# files of sentence-transformers say what follows on the encoder
_MODULES = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]


@dataclass(frozen=True)
class MicroTrainer:
    """Trains models of 16 dimensions with fairseq, in forked processes."""

    data: Path
    root: Path
    server: BaseContext

    def flags(self, save: Path, stage: str, *flags: str) -> list[str]:
        """Return the arguments of fairseq-train."""
        return [
            *(
                str(self.data),
                *_MICRO[stage],
                f"--save-dir={save}",
                "--optimizer=adam",
                "--lr=0.01",
            ),
            *("--lr-scheduler=fixed", "--no-epoch-checkpoints", "--num-workers=0", "--cpu"),
            *("--log-interval=1", "--log-format=json", "--save-interval-updates=6"),
            *(f"--tensorboard-logdir={save / 'tensorboard'}", *flags),
        ]

    def run(
        self,
        name: str,
        stage: str,
        *flags: str,
        kill_at: int | None = None,
        by: int = signal.SIGKILL,
        environments: tuple[dict[str, str], ...] = ({},),
        apart: bool = False,
    ) -> Path:
        """Train; the log is train.log in the directory that is returned.

        :param kill_at: after how many updates the last process, mostly the only one, gets ``by``.
        :param environments: of each process.
        :param apart: further processes have directories of their own, as on other machines.
        """
        save = self.root / name
        save.mkdir(exist_ok=True)
        flags, log = self.flags(save, stage, *flags), save / "train.log"
        last, processes = len(environments) - 1, []
        for rank, environment in enumerate(environments):
            own = [f"--save-dir={save / f'machine-{rank}'}"] if apart and rank else []
            known = {"log": str(log), "flags": [*flags, *own], "number": by}
            known |= {"kill_at": kill_at if rank == last else None, "environment": environment}
            processes.append(self.server.Process(target=exec, args=(_TRAIN, known)))
            processes[-1].start()
        for rank, process in enumerate(processes):
            process.join(600)
            ended = {signal.SIGKILL: -9, signal.SIGTERM: 143}[by] if rank == last else 1
            expected = 0 if kill_at is None else ended
            assert process.exitcode == expected, log.read_text()[-3000:]
        return save

    def export(self, save: Path, encoder: Path | None = None) -> Path:
        """Return the encoder directory of a training directory, by default in that."""
        from mpbert.commands import export_encoder  # imports torch

        encoder = encoder or save / "encoder"
        export_encoder.run(export_encoder.Config(save / "checkpoint_last.pt", self.data, encoder))
        return encoder


@pytest.fixture
def use_threads(monkeypatch) -> Callable[[int], None]:
    """Function that says how many threads compiled code uses until the test ends."""
    return lambda number: monkeypatch.setenv("NUMBA_NUM_THREADS", str(number))


class Hung(BaseException):
    """An input took longer than it may; no handler of errors catches this."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what runs inside after so many seconds of the processor, in the midst of a regex too."""

    def stop(*_: object) -> None:
        raise Hung(f"still running after {seconds} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(name="limited", scope="session")
def limited_fixture() -> Callable[[float], AbstractContextManager[None]]:
    """The function above: inputs that are made to hang fail instead."""
    return limited


MakeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Function of a name and of what makes a path; all processes of a run share that path.

    The first that wants it makes it, others wait. A test that changes it takes a copy.
    """
    root = tmp_path_factory.getbasetemp()
    root = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "shared"

    def made(name: str, make: Callable[[Path], object]) -> Path:
        path, done = root / name, root / "done" / name.replace("/", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        done.parent.mkdir(exist_ok=True)
        with FileLock(f"{done}.lock"):
            if not done.exists():
                if path.is_dir():  # of a try that failed
                    shutil.rmtree(path)
                make(path)
                done.touch()
        return path

    return made


@pytest.fixture(scope="session")
def rfc_archive(make_once: MakeOnce) -> Path:
    """Archive of the 120 RFCs of fixtures/rfc_sample.txt, which cite one another often."""
    return make_once("rfc-120.tar", _write_archive)


def _write_archive(path: Path) -> None:
    sample = (REPOSITORY / "tests" / "fixtures" / "rfc_sample.txt").read_text().lower().split()
    wanted = {f"{paper_id}.{kind}" for paper_id in sample for kind in ("json", "txt")}
    with tarfile.open(RFC_ARCHIVE, "r|xz") as archive, tarfile.open(path, "w") as part:
        for member in archive:
            if Path(member.name).name in wanted:
                part.addfile(member, io.BytesIO(archive.extractfile(member).read()))


@pytest.fixture(scope="session")
def rfc_corpus(rfc_archive: Path, make_once: MakeOnce) -> Path:
    """Store of those 120 RFCs: 80 train, 14 valid, 26 test."""

    def make(output: Path) -> None:
        build_corpus.run(build_corpus.Config(rfc_archive, output, reader="rfc"))

    return make_once("corpus/rfc", make)


@pytest.fixture(scope="session")
def store(rfc_corpus: Path) -> CorpusStore:
    """Store of the 120 RFCs."""
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="session")
def small_encoder(store: CorpusStore, make_once: MakeOnce) -> Path:
    """Folder of a BERT of 32 dimensions that reads 24 tokens, with mean pooling."""
    return make_once("small-encoder", lambda folder: _save_small_encoder(store, folder))


def _save_small_encoder(store: CorpusStore, folder: Path) -> None:
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from mpbert.pretrained.texts import training_texts

    learnt = BertWordPieceTokenizer()
    texts = training_texts(store)[:300]
    learnt.train_from_iterator(texts, vocab_size=500, show_progress=False)
    tokens = sorted(learnt.get_vocab(), key=learnt.token_to_id)  # special ones are the first five
    tokens[5:] = sorted(tokens[5:])  # they had the random order of a hash table
    tokenizer = BertWordPieceTokenizer(vocab={token: i for i, token in enumerate(tokens)})
    BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=64).save_pretrained(folder)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        BertModel(config).save_pretrained(folder)
    modules = [
        {
            "idx": place,
            "name": str(place),
            "path": name,
            "type": f"sentence_transformers.models.{kind}",
        }
        for place, (name, kind) in enumerate(_MODULES)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24}')
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    pooling["word_embedding_dimension"] = 32
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


@pytest.fixture(scope="session")
def micro_encoder(rfc_binary: Path, make_once: MakeOnce) -> Path:
    """Encoder directory of 16 dimensions and random weights, which reads the same each time."""
    return make_once("micro/encoder", lambda path: _random_encoder(rfc_binary, path.parent))


def _random_encoder(
    data: Path, folder: Path, sentence_encoder: Path | None = None, **sizes: object
) -> None:
    """Write an encoder of random weights into ``encoder`` of a folder.

    :param sentence_encoder: the pretrained one whose vectors it reads, if any.
    :param sizes: of the model, beside the usual ones.
    """
    import torch

    from mpbert.model.config import Configuration, ModelConfig, ObjectiveConfig, ReadingConfig
    from mpbert.model.description import EncoderDescription
    from mpbert.model.directory import save_encoder
    from mpbert.model.encoder import TwoTower

    path = folder / "encoder"
    path.mkdir()
    config = ModelConfig(BinaryCorpus(data).vocab_size, 16, 32, 2, 1, 1, 0, 0.0, 0.0, 0.0, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = TwoTower(config)
        if model.lexical:
            torch.nn.init.normal_(model.lexical.log_weights.weight, std=0.2)
            model.lexical.mean_length.fill_(500)
    reading = ReadingConfig(8, 5, 3, dynamic=False, sentence_tokens=12)
    objective = ObjectiveConfig("contrastive")
    made = Configuration(config, reading, objective=objective)
    description = EncoderDescription("two-tower", made)
    tokenizer = data / "tokenizer.json"
    save_encoder(path, description, model.state_dict(), tokenizer, sentence_encoder)


@pytest.fixture(scope="session")
def micro_vectors(rfc_binary: Path, micro_encoder: Path, make_once: MakeOnce) -> Path:
    """Vectors directory of the RFCs by that encoder."""
    from mpbert.commands import embed  # imports torch

    def make(output: Path) -> None:
        embed.run(embed.Config(rfc_binary, micro_encoder, output, splits=["test"], device="cpu"))

    return make_once("micro/vectors", make)


@pytest.fixture(scope="session")
def library_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index by words of the five papers of ``fixtures/bibtex/library.bib``."""
    path = tmp_path_factory.mktemp("library") / "index"
    index.run(index.Config(REPOSITORY / "tests/fixtures/bibtex/library.bib", path))
    return path


@pytest.fixture(scope="session")
def rfc_index(
    rfc_corpus: Path, micro_encoder: Path, micro_vectors: Path, make_once: MakeOnce
) -> Path:
    """Index of those RFCs; a test that changes it takes a copy."""
    from mpbert.commands import build_index  # imports torch

    def make(output: Path) -> None:
        build_index.run(build_index.Config(rfc_corpus, micro_encoder, micro_vectors, output))

    return make_once("index/rfc", make)


@dataclass(frozen=True)
class Matching:
    """Outputs of an encoder with exact matches.

    :param encoder: its directory; ``vectors`` of the RFCs; ``index`` of them.
    """

    encoder: Path
    vectors: Path
    index: Path


@pytest.fixture(scope="session")
def plain_matching(rfc_corpus: Path, rfc_binary: Path, make_once: MakeOnce) -> Matching:
    """Outputs of an encoder with exact matches and no other level."""
    return _matching(make_once("matching", lambda out: _match(rfc_corpus, rfc_binary, out, None)))


@pytest.fixture(scope="session", params=["tokens", "sentences"])
def matching(
    request: pytest.FixtureRequest, rfc_corpus: Path, rfc_binary: Path, make_once: MakeOnce
) -> Matching:
    """Outputs of two encoders with exact matches; one also has a pretrained sentence level."""
    if request.param == "tokens":
        return request.getfixturevalue("plain_matching")
    level = request.getfixturevalue("small_encoder")
    return _matching(
        make_once("matching-level", lambda out: _match(rfc_corpus, rfc_binary, out, level))
    )


def _matching(out: Path) -> Matching:
    return Matching(out / "encoder", out / "vectors", out / "index")


def _match(rfc_corpus: Path, rfc_binary: Path, out: Path, level: Path | None) -> None:
    from mpbert.commands import build_index, embed, embed_sentences
    from mpbert.model.config import LexicalConfig, UpperConfig
    from mpbert.pretrained.model_files import sha256_of_model

    out.mkdir()
    stored, upper = None, UpperConfig()
    if level is not None:
        stored = out / "stored"
        embed_sentences.run(embed_sentences.Config(rfc_corpus, level, stored, device="cpu"))
        sha256 = sha256_of_model(level)
        upper = UpperConfig("concatenated", "abstract,citing", 32, sha256, upper_dim=8)
    made = _matching(out)
    _random_encoder(rfc_binary, out, level, lexical=LexicalConfig(True), upper=upper)
    embed.run(
        embed.Config(
            *(rfc_binary, made.encoder, made.vectors, stored), splits=["test"], device="cpu"
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        keep_levels(patch)
        build_index.run(build_index.Config(rfc_corpus, made.encoder, made.vectors, made.index))


def keep_levels(patch: pytest.MonkeyPatch) -> None:
    """Let an index keep levels that learnt nothing."""
    from mpbert.recommending import level_choice

    patch.setattr(level_choice, "levels_help", lambda *_: (True, ""))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["WebDriver"]:
    """Headless Chromium; ``downloads`` is the folder of what it downloads."""
    from tests.browsing import start_browser

    downloads = tmp_path_factory.mktemp("downloads")
    driver = start_browser(downloads)
    driver.downloads = downloads
    yield driver
    driver.quit()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags that rewrite golden files and pictures of the page."""
    parser.addoption("--all", action="store_true", help="also what takes minutes")
    parser.addoption("--kills", type=int, help="kills of each stage; default 1, with --all 20")
    parser.addoption("--inputs", type=int, default=100_000, help="of each fuzz test, with --all")
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")
    parser.addoption("--screenshots", type=Path, help="keep pictures of the page in this folder")
    parser.addoption("--index", type=Path, help="index on the pictures; default: a small one")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Search for no garbage among the modules of tests: this took half the time to import them."""
    if session.config.getoption("dist", "no") == "no":  # a process that starts others imports none
        gc.disable()


def pytest_collection_finish() -> None:
    """Search again, but never among what was imported."""
    gc.freeze()
    gc.enable()


_LONG = ("slow", "fairseq", "recipe")  # marks of tests that take seconds


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes minutes, unless all is asked for; workers begin with what is long."""
    if not config.getoption("--all"):
        exhaustive = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=exhaustive)
        items[:] = [item for item in items if item not in set(exhaustive)]
    if hasattr(config, "workerinput"):  # of pytest-xdist: a long file at the end is waited for
        long = {item.path for item in items if any(map(item.get_closest_marker, _LONG))}
        items.sort(key=lambda item: item.path not in long)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Function of a name and a text: the text must be that of tests/golden/NAME."""

    def check(name: str, text: str) -> None:
        path = REPOSITORY / "tests" / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"see {path}, or pytest --update-golden"

    return check


@pytest.fixture(scope="session")
def rfc_binary(rfc_corpus: Path, make_once: MakeOnce) -> Path:
    """Binary corpus of those RFCs with short sentences, so that training takes a moment."""

    def make(output: Path) -> None:
        binarize.run(binarize.Config(rfc_corpus, output, vocab_size=400, sentence_tokens=12))

    return make_once("binary/rfc", make)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[BaseContext]:
    """Starts processes that have imported already what takes seconds."""
    server = multiprocessing.get_context("forkserver")
    stages = ("build_corpus", "binarize", "embed", "fit", "retrieve", "rerank", "report", "add")
    stages += ("build_index", "remove", "export_data", "export_vectors", "export_encoder")
    training = ("compat", "pretraining", "finetuning")
    server.set_forkserver_preload(
        [
            *(f"mpbert.commands.{name}" for name in stages),
            *(f"mpbert.model.fairseq_plugin.{name}" for name in training),
            "fairseq_cli.train",
            "torch._dynamo",  # of all optimizers but fairseq's
            *("mpbert.corpus.fields", "mpbert.methods.lexical.search", "pandas", "pyarrow.dataset"),
        ]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield server


@pytest.fixture(scope="module")
def forked_trainings(fork_server: BaseContext) -> Iterator[None]:
    """``pretrain`` and ``finetune`` train as always, but in processes that need not import it all.

    Tests of how such a process is started, killed and ended do without.
    """
    from mpbert.model.fairseq_plugin import training

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "subprocess", forked_programs(fork_server))
        yield


@pytest.fixture(scope="module")
def forked_steps(fork_server: BaseContext) -> Iterator[None]:
    """Steps of rows and trials run as always, but in processes that need not import it all.

    Tests of how one is killed and ended start ``make-rows`` and ``tune`` as programs.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "subprocess", forked_programs(fork_server))
        yield


@pytest.fixture(scope="session")
def trainer(
    rfc_binary: Path, fork_server: BaseContext, tmp_path_factory: pytest.TempPathFactory
) -> MicroTrainer:
    """Trains micro models with fairseq."""
    return MicroTrainer(rfc_binary, tmp_path_factory.mktemp("trained"), fork_server)


@pytest.fixture(scope="session")
def pretrained(trainer: MicroTrainer, make_once: MakeOnce) -> Path:
    """Directory of 9 updates of pretraining, in three epochs."""
    return _trained(make_once, trainer, "pretrained", "pretrain")


@pytest.fixture(scope="session")
def pretrained_encoder(pretrained: Path, trainer: MicroTrainer, make_once: MakeOnce) -> Path:
    """Encoder directory of that model."""
    return make_once("pretrained-encoder", lambda path: trainer.export(pretrained, path))


@pytest.fixture(scope="session")
def finetuned(trainer: MicroTrainer, pretrained_encoder: Path, make_once: MakeOnce) -> Path:
    """Directory of 9 updates of fine-tuning that start there."""
    return _trained(make_once, trainer, "finetuned", "finetune", f"--init={pretrained_encoder}")


@pytest.fixture(scope="session")
def finetuned_encoder(finetuned: Path, trainer: MicroTrainer, make_once: MakeOnce) -> Path:
    """Encoder directory of that model."""
    return make_once("finetuned-encoder", lambda path: trainer.export(finetuned, path))


def _trained(
    make_once: MakeOnce, trainer: MicroTrainer, name: str, stage: str, *flags: str
) -> Path:
    def make(path: Path) -> None:
        of_all = replace(trainer, root=path.parent)
        of_all.run(name, stage, *flags, "--max-update=9")

    return make_once(name, make)


@pytest.fixture
def kernel_of_a_gpu(monkeypatch):
    """Attention of rows of all lengths at once, on a CPU: asks of its arguments what a GPU does."""
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import varlen

    signature = inspect.signature(varlen.varlen_attn)

    def varlen_attn(*arguments: object, **named: object) -> torch.Tensor:
        given = signature.bind(*arguments, **named).arguments
        query, key, value, starts = (given[k] for k in ("query", "key", "value", "cu_seq_q"))
        assert query.shape[-1] % 8 == 0
        assert starts.dtype == torch.int32 and starts[-1] == len(query)
        assert given["max_q"] == starts.diff().max()
        found = []
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            parts = (part[start:end].transpose(0, 1) for part in (query, key, value))
            how = {"is_causal": given["window_size"] == (-1, 0), "scale": given["scale"]}
            found.append(F.scaled_dot_product_attention(*parts, **how).transpose(0, 1))
        return torch.cat(found)

    monkeypatch.setattr(varlen, "varlen_attn", varlen_attn)
