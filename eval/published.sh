#!/usr/bin/env bash
# Measure on the files of DualLCR and HAtten, as published: each citation is a query, all papers are candidates.
#   usage:  eval/published.sh FOLDER NAME [ROW...]     e.g. eval/published.sh acl_200 acl-200
#   reads:  FOLDER/papers.json, contexts.json and the splits train.json, val.json, test.json; eval/rows
#   writes: runs/published, runs/known/published and runs/later/published, where eval/all.sh writes runs; prints Recall@10,
#           Recall@100 and MRR of each row, again where papers are read with the contexts of val.json, and where these train, too
#   SPLIT:  flags of build-corpus in the place of --split given, such as "--split random --test-share 0.05" (transductive)
#   cost:   see docs/results/published.md; a killed one goes on with what is missing
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
folder=${1:?"FOLDER is missing; see the usage line in $0"} name=${2:?"NAME is missing; see the usage line in $0"}
rows=("${@:3}")
((${#rows[@]})) || rows=(bm25_abstract bm25_fields token_bag_matches index_token_bag)
root=runs/published corpus=runs/published/corpus/$name
# shellcheck disable=SC2086 # flags are words
"$python" -m mpbert build-corpus "$folder" "$corpus" --reader contexts ${SPLIT:---split given}
"$python" -m mpbert make-rows "$corpus" eval/rows "$root" --pool all --only "${rows[@]}"
measures="--each-citation --measures Recall@10 Recall@100 MRR"
for row in "${rows[@]}"; do
  echo "$row"
  # shellcheck disable=SC2086 # measures are words
  "$python" -m mpbert evaluate "$corpus/qrels.test.all.txt" "$root/trec/$name/$row/test.run" $measures
done
echo "with the contexts of val.json:"
export RUNS=$root QRELS=qrels.test.all.txt MEASURES=$measures
eval/known.sh "$name" "${rows[@]}"
echo "trained with them, too:"
TRAIN=yes eval/known.sh "$name" "${rows[@]}"
