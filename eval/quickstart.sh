#!/usr/bin/env bash
# Everything, from 593 RFCs to a report and a recommendation, trained in front of you.
#   usage:  bash eval/quickstart.sh     reads: datasets/rfc     writes: .venv, runs/
#   cost:   a quarter of an hour on 2 cores after installation, the first recommendation within a minute;
#           a second run reuses what is finished; a killed one goes on where it was
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
step() { printf '\n== %s\n' "$*" >&2; }
rows() { "$python" -m mpbert make-rows runs/corpus/rfc eval/rows runs --tuned eval/tuned --only "$@"; }

example=datasets/rfc/example.txt
step "1/8 a first recommendation, without training: papers of an index for this text, by words"
"$python" -m mpbert index datasets/rfc/rfc-593.tar.xz runs/index/rfc-words --reader rfc
cat "$example" && "$python" -m mpbert recommend runs/index/rfc-words "$example" --top 5
step "2/8 corpus: 593 RFCs with their citation contexts"
datasets/rfc/build.sh
step "3/8 baselines: chance, Word2Vec, BM25"
rows chance word2vec bm25_abstract bm25_citing
step "4/8 tokenizer and token ids"
pretrain/binarize.sh rfc --vocab-size 8000 # few words in so small a sample
step "5/8 token bag with exact matches: bring manuscripts near the papers they cite; embed; rank"
rows token_bag_matches
step "6/8 levels beside it: sentences by MiniLM, a document level pretrained by masked sentences; embed; rank"
answers=hierarchical_minilm code=0
rows "$answers" || code=$?
((code == 0 || code == 3)) || exit "$code"
if ((code == 3)); then # a row failed
  answers=token_bag_matches && echo "without the hierarchical row, see above: $answers answers" >&2
fi
step "7/8 report"
eval/report.sh rfc
step "8/8 vectors for gensim, and a better recommendation for the same text"
eval/export.sh rfc "$answers" word2vec
echo "vectors: runs/export/rfc/$answers/word2vec" >&2
cmp -s "runs/encoders/rfc/$answers/model.safetensors" runs/index/rfc/encoder/model.safetensors ||
  rm -rf runs/index/rfc # of another encoder
"$python" -m mpbert build-index runs/corpus/rfc "runs/encoders/rfc/$answers" "runs/vectors/rfc/$answers" runs/index/rfc
cat "$example" && "$python" -m mpbert recommend runs/index/rfc "$example" --top 5
printf '\nreport: runs/report/rfc/report.html   a page to write in: mpbert serve runs/index/rfc\nnext: your own papers, see datasets/README.md\n'
