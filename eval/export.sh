#!/usr/bin/env bash
# Export the paper vectors of one method for other programs, in every format or in one.
#   usage:  eval/export.sh CORPUS METHOD [FORMAT...]     e.g. eval/export.sh rfc word2vec npy tsv
#   reads:  runs/vectors/CORPUS/METHOD, runs/corpus/CORPUS
#   writes: runs/export/CORPUS/METHOD/FORMAT     cost: seconds
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
method=${2:?"METHOD is missing; see the usage line in $0"}
formats=("${@:3}")
((${#formats[@]})) || formats=(word2vec word2vec-bin npy tsv parquet safetensors faiss)
for format in "${formats[@]}"; do
  "$python" -m mpbert export-vectors "runs/vectors/$corpus/$method" \
    "runs/export/$corpus/$method/$format" --format "$format" --corpus "runs/corpus/$corpus"
done
