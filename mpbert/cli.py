"""The command line: a command per module of ``mpbert.commands``; only the chosen is imported."""

import difflib
import importlib
import logging
import sys
from collections.abc import Sequence

from mpbert.config import parse_config
from mpbert.errors import MpbertError, RowsFailedError

# name -> (module in mpbert.commands, what it does); the order is the order of work
COMMANDS = {
    "validate": "check a JSON Lines corpus; report every bad record with its line",
    "build-corpus": "raw corpus -> corpus store",
    "binarize": "corpus store -> tokenizer and memory-mapped token ids",
    "export-encoder": "checkpoint of training -> encoder directory, which needs no fairseq",
    "embed": "encoder -> vectors of papers and of manuscripts",
    "fit-baseline": "corpus store -> vectors of a baseline",
    "add-papers": "vectors of HyperDoc2Vec and a larger corpus -> vectors of the new papers too",
    "retrieve": "vectors or words -> ranked papers for every context, as TREC runs",
    "rerank": "runs -> a better run, by fusion or a reranker",
    "tune": "settings of every row, chosen on validation with the same budget",
    "run-conditions": "all rows of the report that are not finished, and what they cost",
    "evaluate": "qrels and a run -> measures of this one run",
    "misses": "corpus and run -> citations that were not found, and why",
    "report": "runs of all conditions -> one report with tests, intervals and plots",
    "build-index": "corpus store, encoder and vectors -> an index that recommends by itself",
    "recommend": "index and a manuscript -> ranked papers for each place, and why",
    "serve": "index -> a page to write in, with papers to cite at the cursor, and an HTTP API",
    "add": "index and new papers -> the same index with them, without training",
    "remove": "index and ids -> the same index without these papers",
    "export-data": "corpus store -> a folder of BEIR: corpus, queries and qrels of a task",
    "export-vectors": "vectors -> word2vec, NPY, TSV, Parquet, safetensors or FAISS files",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 2 for wrong input, 3 where only a part was made."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if argv[0] == "--version":
        import mpbert

        print(mpbert.__version__)
        return 0
    command = argv[0]
    if command not in COMMANDS:
        close = difflib.get_close_matches(command, COMMANDS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else "; see mpbert --help"
        print(f"mpbert: unknown command {command!r}{hint}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    for chatty in ("faiss", "gensim"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    module = importlib.import_module("mpbert.commands." + command.replace("-", "_"))
    try:
        module.run(parse_config(module.Config, command, argv[1:]))
    except MpbertError as error:
        print(f"mpbert {command}: {error}", file=sys.stderr)
        return 3 if isinstance(error, RowsFailedError) else 2
    except KeyboardInterrupt:
        print(f"mpbert {command}: interrupted; nothing unfinished was kept", file=sys.stderr)
        return 130
    return 0


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            "usage: python -m mpbert COMMAND INPUT... OUTPUT [--flags]",
            "",
            "Citation recommendation with MP-BERT4CR: manuscript and citation vectors.",
            "",
            "commands, in the order of work:",
            *lines,
            "",
            "python -m mpbert COMMAND --help shows the options of one, with defaults.",
        ]
    )
