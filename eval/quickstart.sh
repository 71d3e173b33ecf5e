#!/usr/bin/env bash
# Everything, from 593 RFCs to a report and a recommendation, trained in front of you.
#   usage:  bash eval/quickstart.sh     reads: datasets/rfc     writes: .venv, runs/; all lines: runs/quickstart.log
#   cost:   five minutes on 2 cores after installation, the first recommendation within half a minute;
#           a second run reuses what is finished; a killed one goes on where it was
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
example=datasets/rfc/example.txt log=runs/quickstart.log
mkdir -p runs && : >"$log"
step() { printf '\n== %s\n' "$*" >&2; }
quietly() { # its lines go to the log; a terminal shows the last one, a file those with a time left
  local told=
  "$@" 2>&1 | tee -a "$log" | while IFS= read -r line; do
    if [[ -t 2 ]]; then printf '\r\033[K%.79s' "$line"; elif [[ $line == *" left" && $line != "$told" ]]; then told=$line && echo "$line"; fi >&2
  done || { code=$? && tail -n 3 "$log" >&2 && exit "$code"; }
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}
rows() { quietly "$python" -m mpbert make-rows runs/corpus/rfc eval/rows runs --tuned eval/tuned --only "$@"; }
answer() { "$python" -m mpbert recommend "$1" "$example" --top 3; }
step "1/6 a first answer, from the words of 593 RFCs: which of them belong at [CITATION] in this text?"
cat "$example"
quietly "$python" -m mpbert index datasets/rfc/rfc-593.tar.xz runs/index/rfc-words --reader rfc
answer runs/index/rfc-words
step "2/6 corpus: the sentences that cite RFCs; papers before 2016 train, later ones test"
quietly datasets/rfc/build.sh
step "3/6 baselines to compare with: chance, Word2Vec, BM25"
rows chance word2vec bm25_abstract bm25_citing
step "4/6 training: a token bag with exact matches brings sentences near the papers that they cite"
quietly pretrain/binarize.sh rfc --vocab-size 8000 # few words in so small a sample
rows token_bag_matches
step "5/6 report: does it find the papers that unseen sentences cite? In %; P: papers that a sentence cites; [best]"
quietly eval/report.sh rfc
awk 'NR > 3 && !NF {exit} NR > 2' runs/report/rfc/report.txt
step "6/6 an index that has learnt from citations, and its answer for the same text"
quietly eval/export.sh rfc token_bag_matches word2vec
quietly "$python" -m mpbert build-index runs/corpus/rfc runs/{encoders,vectors}/rfc/token_bag_matches runs/index/rfc
answer runs/index/rfc
step "all lines: $log, vectors for gensim in runs/export/rfc, all tables: runs/report/rfc/report.html
   next: mpbert serve runs/index/rfc opens a page to write in; your own papers: docs/library.md"
