#!/usr/bin/env bash
# The rows without an encoder: chance, Word2Vec, BM25 on what papers say of themselves, and BM25 on
# what training sentences say when citing them.
#   usage:  eval/baselines.sh CORPUS     e.g. eval/baselines.sh rfc
#   reads:  runs/corpus/CORPUS     writes: runs/vectors/CORPUS/METHOD, runs/trec/CORPUS/METHOD
#   cost:   RFC: 20 s; ACL: 6 min, 1.2 GiB
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
for method in chance word2vec; do
  "$python" -m mpbert fit-baseline "runs/corpus/$corpus" "runs/vectors/$corpus/$method" \
    --baseline "$method"
  eval/retrieve.sh "$corpus" "$method"
done
for row in "bm25_abstract abstract" "bm25_citing abstract+citing"; do
  read -r name fields <<<"$row"
  "$python" -m mpbert retrieve "runs/corpus/$corpus" "runs/trec/$corpus/$name" \
    --lexical bm25 --settings "fields=$fields"
done
