"""What the help and the page of each command teach beside its options."""

from typing import NamedTuple


class CommandHelp(NamedTuple):
    """An example, which is one of the sample corpus, and what goes in and comes out."""

    example: str
    reads: str
    writes: str


HELP = {
    "validate": CommandHelp(
        "mpbert validate papers.jsonl.gz",
        "a JSON Lines corpus, see datasets/jsonl.schema.json",
        "one problem a line on standard output, as path:line: found, expected",
    ),
    "build-corpus": CommandHelp(
        "mpbert build-corpus datasets/rfc/rfc-593.tar.xz runs/corpus/rfc --reader rfc",
        "papers with citations, in one of the formats of docs/formats.md",
        "a corpus store: papers, sentences, contexts and citations as Parquet, qrels",
    ),
    "binarize": CommandHelp(
        "mpbert binarize runs/corpus/rfc runs/binarized/rfc --vocab-size 8000",
        "a corpus store",
        "a binary corpus: tokenizer.json, and token ids as memory-mapped files",
    ),
    "pretrain": CommandHelp(
        "mpbert pretrain runs/binarized/rfc pretrain/configs/tiny.yaml "
        "runs/encoders/rfc/tiny-pretrained --training runs/pretrained/rfc/tiny",
        "a binary corpus, and a YAML file of pretrain/configs or of your own",
        "an encoder directory; checkpoints, train.log and curves lie in --training",
    ),
    "finetune": CommandHelp(
        "mpbert finetune runs/binarized/rfc finetune/configs/token_bag.yaml "
        "runs/encoders/rfc/token_bag --training runs/finetuned/rfc/token_bag",
        "a binary corpus, a YAML file of finetune/configs or of your own, and with --init a "
        "pretrained encoder",
        "an encoder directory; checkpoints, train.log and curves lie in --training",
    ),
    "export-encoder": CommandHelp(
        "mpbert export-encoder runs/pretrained/rfc/tiny/checkpoint_best.pt runs/binarized/rfc "
        "runs/encoders/rfc/tiny-pretrained",
        "a checkpoint of pretrain or finetune, and its binary corpus",
        "an encoder directory: config.json, model.safetensors, tokenizer.json",
    ),
    "distil": CommandHelp(
        "mpbert distil runs/corpus/rfc incite-app/minilm-citation-v4 runs/encoders/rfc/distilled",
        "a corpus store, and an encoder of Hugging Face's library: a folder, or its name",
        "an encoder directory for mpbert index --encoder",
    ),
    "embed": CommandHelp(
        "mpbert embed runs/binarized/rfc runs/encoders/rfc/token_bag_matches "
        "runs/vectors/rfc/token_bag_matches --readings 5",
        "a binary corpus and a fine-tuned encoder",
        "a vectors directory: a vector of each paper and of each citation context",
    ),
    "embed-sentences": CommandHelp(
        "mpbert embed-sentences runs/corpus/rfc sentence-transformers/all-MiniLM-L6-v2 "
        "runs/sentences/rfc/minilm",
        "a corpus store, and an encoder of Hugging Face's library: a folder, or a name on the hub",
        "a vector of each sentence of the chosen parts, and which vector each sentence has",
    ),
    "fit": CommandHelp(
        "mpbert fit runs/corpus/rfc runs/vectors/rfc/word2vec --method word2vec "
        "--settings dim=100 epochs=10",
        "a corpus store; it learns from the training split alone",
        "a vectors directory",
    ),
    "add-papers": CommandHelp(
        "mpbert add-papers runs/vectors/rfc/hyperdoc2vec runs/corpus/larger "
        "runs/vectors/larger/hyperdoc2vec",
        "a vectors directory of HyperDoc2Vec, and a corpus store with more papers",
        "a vectors directory of all papers; the old ones keep their vectors to the bit",
    ),
    "retrieve": CommandHelp(
        "mpbert retrieve runs/corpus/rfc runs/trec/rfc/word2vec "
        "--vectors runs/vectors/rfc/word2vec",
        "a corpus store, and a vectors directory unless the method is lexical",
        "a directory of TREC runs: valid.run and test.run",
    ),
    "answer": CommandHelp(
        "mpbert answer runs/corpus/rfc runs/index/rfc runs/trec/rfc/answers",
        "a corpus store, and an index that build-index made of it",
        "a directory of TREC runs: valid.run and test.run",
    ),
    "hold-out": CommandHelp(
        "mpbert hold-out runs/corpus/rfc runs/parts/1-of-3/corpus/rfc --part 1 --parts 3",
        "a corpus store",
        "a corpus store whose test split is that part; nothing is measured with it",
    ),
    "join-parts": CommandHelp(
        "mpbert join-parts runs/corpus/rfc runs/trec/rfc/lists --runs runs/parts/1-of-2/trec/rfc/x "
        "runs/parts/2-of-2/trec/rfc/x",
        "a corpus store, and the test.run that was made of each of its held-out parts",
        "a directory with train.run, for rerank --training",
    ),
    "rerank": CommandHelp(
        "mpbert rerank runs/corpus/rfc runs/trec/rfc/fusion --runs runs/trec/rfc/word2vec "
        "runs/trec/rfc/bm25_citing",
        "a corpus store and directories of TREC runs",
        "a directory of TREC runs: valid.run and test.run",
    ),
    "tune": CommandHelp(
        "mpbert tune runs/corpus/rfc eval/rows runs eval/tuned/rfc.yaml --only word2vec sif",
        "a corpus store and rows; of the qrels, those of validation alone",
        "a YAML file of the settings chosen, which make-rows and report read; beside it all trials",
    ),
    "make-rows": CommandHelp(
        "mpbert make-rows runs/corpus/rfc eval/rows runs --only token_bag word2vec",
        "a corpus store, rows, and what mpbert tune chose",
        "vectors, runs and costs of each row, below the root: vectors/, trec/, cost/",
    ),
    "evaluate": CommandHelp(
        "mpbert evaluate runs/corpus/rfc/qrels.test.txt runs/trec/rfc/word2vec/test.run",
        "TREC qrels and a TREC run",
        "a line per measure on standard output, in percent",
    ),
    "compare": CommandHelp(
        "mpbert compare runs/corpus/rfc/qrels.test.txt runs/trec/rfc/word2vec/test.run "
        "runs/trec/rfc/bm25_citing/test.run",
        "TREC qrels and TREC runs of any program",
        "a table on standard output: means, intervals, p against the best other run",
    ),
    "misses": CommandHelp(
        "mpbert misses runs/corpus/rfc runs/trec/rfc/bm25_citing/test.run --number 5",
        "a corpus store and a TREC run of its contexts",
        "how many citations are missed for which cause, and some of them, on standard output",
    ),
    "contributions": CommandHelp(
        "mpbert contributions runs/corpus/rfc runs/binarized/rfc runs/encoders/rfc/token_bag "
        "runs/vectors/rfc/token_bag",
        "a corpus store and its binary corpus, a fine-tuned encoder, and the vectors that it made",
        "what is lost without one or all sentences of a kind, on standard output",
    ),
    "report": CommandHelp(
        "mpbert report runs/corpus/rfc eval/rows runs runs/report/rfc --replace",
        "a corpus store, rows, and their runs below the root; with --kept also results",
        "report.txt, .md, .tex, .html, .json; cost.txt, .md, .json; plots as .svg and .png",
    ),
    "build-index": CommandHelp(
        "mpbert build-index runs/corpus/rfc runs/encoders/rfc/token_bag_matches "
        "runs/vectors/rfc/token_bag_matches runs/index/rfc",
        "a corpus store, an encoder, and the vectors that it made",
        "an index: papers, vectors, words, citing sentences, and a copy of the encoder",
    ),
    "index": CommandHelp(
        "mpbert index library.bib runs/index/library",
        "papers in any format: BibTeX, CSL JSON, RIS, GROBID TEI, JSON Lines and all other readers",
        "an index: papers, words, citing sentences; with --encoder also vectors and a copy of it",
    ),
    "learn-confidence": CommandHelp(
        "mpbert learn-confidence mpbert/recommending/confidence",
        "corpus stores of the ACL and of the RFCs",
        "the coefficients that come with mpbert, and a Markdown table on standard output",
    ),
    "measure-confidence": CommandHelp(
        "mpbert measure-confidence runs/corpus/rfc runs/index/rfc",
        "a corpus store, and the index that build-index made of it",
        "Markdown on standard output; with --plot a picture",
    ),
    "learn-unmarked": CommandHelp(
        "mpbert learn-unmarked mpbert/recommending/unmarked/worthiness.safetensors",
        "papers of the ACL and RFCs, raw",
        "a file of coefficients, which recommend --unmarked has; on standard output how well they "
        "tell sentences that cite, and how often the cited paper is found",
    ),
    "recommend": CommandHelp(
        "mpbert recommend runs/index/rfc datasets/rfc/example.txt --top 5",
        "an index, and a manuscript in TeX, Markdown, JSON or plain text",
        "ranked papers for each place on standard output, and why",
    ),
    "measure-evidence": CommandHelp(
        "mpbert measure-evidence runs/index/rfc runs/corpus/rfc --read 50",
        "an index, and the corpus store that build-index made it of",
        "on standard output a table of Markdown, and passages to read",
    ),
    "learn-checks": CommandHelp(
        "mpbert learn-checks runs/corpus/rfc runs/index/rfc",
        "corpus stores, and the indexes that build-index made of them",
        "on standard output how well wrong citations are told; with --output a file of "
        "coefficients, which check-citations has",
    ),
    "check-citations": CommandHelp(
        "mpbert check-citations runs/index/rfc paper.tex",
        "an index, a manuscript in any form that recommend reads, and its bibliography",
        "on standard output doubtful citations, keys that are not defined, entries that are cited "
        "nowhere or stand twice, and papers that are newer than the manuscript",
    ),
    "cite": CommandHelp(
        "mpbert cite runs/index/rfc paper.tex --place 3 --papers RFC1191 RFC1981",
        "an index, and a manuscript in TeX, Markdown or plain text",
        "the keys into the manuscript and missing entries into its .bib, after showing them",
    ),
    "serve": CommandHelp(
        "mpbert serve runs/index/rfc --port 8000",
        "an index",
        "nothing; answers on the address that it prints, until it is interrupted",
    ),
    "mcp": CommandHelp(
        "mpbert mcp runs/index/rfc",
        "an index, and requests of an assistant on standard input",
        "answers on standard output, until its input ends",
    ),
    "lsp": CommandHelp(
        "mpbert lsp runs/index/rfc",
        "an index, and what an editor tells on standard input of the texts that it has open",
        "answers on standard output, until its input ends; the editor writes all changes",
    ),
    "watch": CommandHelp(
        "mpbert watch tests/fixtures/bibtex/library.bib runs/index/library",
        "a library that index reads, and its index, which is made first where there is none",
        "into the index, in one step each time: papers that are new, changed or gone",
    ),
    "add": CommandHelp(
        "mpbert add runs/index/rfc new-papers.jsonl",
        "an index, and papers in any format that build-corpus and index read",
        "the same index, replaced in one step",
    ),
    "remove": CommandHelp(
        "mpbert remove runs/index/rfc RFC1918 RFC2119",
        "an index, and ids of its papers",
        "the same index, replaced in one step",
    ),
    "check": CommandHelp(
        "mpbert check runs/corpus/rfc runs/index/rfc",
        "finished outputs of any command",
        "a line for each that is whole, on standard output; the first damaged file ends it",
    ),
    "export-data": CommandHelp(
        "mpbert export-data runs/corpus/rfc runs/export/rfc/beir --task global",
        "a corpus store",
        "a folder of BEIR: corpus.jsonl, queries.jsonl, qrels",
    ),
    "export-vectors": CommandHelp(
        "mpbert export-vectors runs/vectors/rfc/word2vec runs/export/rfc/word2vec "
        "--format word2vec-bin",
        "a vectors directory",
        "files that gensim, numpy, TensorBoard, pyarrow, safetensors or FAISS open",
    ),
    "fill-tables": CommandHelp(
        "mpbert fill-tables README.md docs/results/index.md",
        "Markdown pages, and the results files that their markers name (docs/rows.md)",
        "the same pages, with the table below each marker made anew",
    ),
    "docs": CommandHelp(
        "mpbert docs docs/commands",
        "the commands themselves",
        "a Markdown page for each command, and README.md that lists them",
    ),
    "completion": CommandHelp(
        "mpbert completion bash > ~/.local/share/bash-completion/completions/mpbert",
        "the commands themselves",
        "a script for bash, zsh or tcsh on standard output",
    ),
}
