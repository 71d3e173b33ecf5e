"""The commands, their exit codes, and the end of the help of each."""

# name -> what it does; the order is the order of work
COMMANDS = {
    "validate": "check a JSON Lines corpus; report every bad record with its line",
    "build-corpus": "raw corpus -> corpus store",
    "binarize": "corpus store -> tokenizer and memory-mapped token ids",
    "pretrain": "binary corpus and a configuration -> encoder that predicts masked sentences",
    "finetune": "binary corpus, a configuration and a pretrained encoder -> two towers",
    "export-encoder": "checkpoint of training -> encoder directory, which needs no fairseq",
    "distil": "pretrained encoder -> a token bag that stands for it, which needs no torch",
    "embed": "encoder -> vectors of papers and of manuscripts",
    "embed-sentences": "corpus store and a pretrained encoder -> stored vectors of its sentences",
    "fit": "corpus store -> vectors of a method",
    "add-papers": "HyperDoc2Vec: vectors and a larger corpus -> vectors of its new papers, too",
    "retrieve": "vectors or words -> ranked papers for every context, as TREC runs",
    "hold-out": "corpus store -> a store without a part of the training papers, to rank for it",
    "join-parts": "lists of held-out parts -> lists that a reranker learns from",
    "rerank": "runs -> a better run, by fusion or a reranker",
    "tune": "settings of every row, chosen on validation with the same budget",
    "make-rows": "all rows of the report that are not finished, and what they cost",
    "evaluate": "qrels and a run -> measures of this one run",
    "compare": "qrels and any runs -> their measures side by side, with intervals and tests",
    "misses": "corpus and run -> citations that were not found, and why",
    "contributions": "encoder and vectors -> what each sentence of a manuscript helps to find",
    "report": "runs of all rows -> one report with tests, intervals and plots",
    "build-index": "corpus store, encoder and vectors -> an index that recommends by itself",
    "index": "a library of papers, with citations or without -> an index at once, no training",
    "answer": "corpus store and index -> ranked papers for every context, as the index answers",
    "learn-confidence": "corpora -> how sure answers of a library without training are",
    "measure-confidence": "corpus store and index -> how far its probabilities come true",
    "learn-unmarked": "raw corpora -> which sentences need a citation, learnt and measured",
    "measure-evidence": "index and corpus store -> how well its passages tell what is cited",
    "recommend": "index and a manuscript -> ranked papers for each place, and why",
    "learn-checks": "corpora and their indexes -> what tells a wrong citation, learnt and measured",
    "check-citations": "index and a finished manuscript -> what is wrong with its citations",
    "cite": "index, a manuscript and papers -> their citations in the text and its .bib",
    "serve": "index -> a page to write in, with papers to cite at the cursor, and an HTTP API",
    "mcp": "index -> tools for an assistant over MCP: papers to cite, titles, BibTeX",
    "lsp": "index -> a language server for editors: papers to cite, entries, what a key is",
    "watch": "library and its index -> the index follows the library while it is served",
    "add": "index and new papers -> the same index with them, without training",
    "remove": "index and ids -> the same index without these papers",
    "check": "outputs -> whether their files are as they were written",
    "export-data": "corpus store -> a folder of BEIR: corpus, queries and qrels of a task",
    "export-vectors": "vectors -> word2vec, NPY, TSV, Parquet, safetensors or FAISS files",
    "fill-tables": "results files -> the tables of pages that are made of them",
    "docs": "a page of documentation for each command",
    "completion": "completion of commands, flags and values for bash, zsh or tcsh",
}
BEGIN = "mpbert index LIBRARY INDEX; mpbert recommend INDEX MANUSCRIPT"
EXIT_CODES = {
    0: "done, or it was done before",
    1: "an error of the program, with a traceback: please report it",
    2: (
        "wrong input, or no memory left: one line says where, what was found, what was expected, "
        "what to do"
    ),
    3: "make-rows: some rows failed, the others were made; check-citations: --fail-on applies",
    130: "interrupted; what is finished stays, and a training says what it goes on from",
    141: "standard output was closed by its reader, such as head; the rest was not printed",
    143: "ended by SIGTERM; what is finished stays, a training goes on when it is started again",
}
COMMON = {
    "--config FILE": "YAML file of options; flags win over it",
    "--log {json,text}": "form of the messages on standard error: lines, or one JSON object a line "
    "without progress bars (default: text; recipes read the environment variable MPBERT_LOG)",
}


def exit_codes(command: str) -> dict[int, str]:
    """Return what the exit codes of a command mean."""
    codes = {code: text for code, text in EXIT_CODES.items() if code != 3}
    for part in EXIT_CODES[3].split("; "):
        name, _, text = part.partition(": ")
        if name == command:
            codes[3] = text
    return dict(sorted(codes.items()))


def epilog(command: str) -> str:
    """Return the end of the help of a command; of an unknown one, the common options alone."""
    from mpbert.foundation.command_examples import HELP  # only help asks for it

    lines = ["also:"]
    lines += [f"  {flag:<20}{text.partition(' (')[0]}" for flag, text in COMMON.items()]
    if command in HELP:
        found = HELP[command]
        parts = {"example": found.example, "reads": found.reads, "writes": found.writes}
        for name, text in parts.items():
            lines += ["", f"{name}:", f"  {text}"]
        lines += ["", "exit codes:"]
        lines += [f"  {code:<5}{text}" for code, text in exit_codes(command).items()]
    return "\n".join(lines).replace("%", "%%")
