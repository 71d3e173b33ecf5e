#!/usr/bin/env bash
# Rank all papers for every validation and test context, by the vectors of one method.
#   usage:  eval/retrieve.sh CORPUS METHOD [first=K] [flags]     e.g. eval/retrieve.sh rfc word2vec --top 200
#           first=K: by the first K numbers of the vectors
#   reads:  runs/corpus/CORPUS, runs/vectors/CORPUS/METHOD     writes: runs/trec/CORPUS/METHOD[-first-K]
#   cost:   RFC: 1 s; ACL: about 20 s, 0.7 GiB
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
method=${2:?"METHOD is missing; see the usage line in $0"}
flags=("${@:3}") name=$method
if [[ ${3:-} == first=* ]]; then
  flags=(--dim "${3#first=}" "${@:4}") name=$method-first-${3#first=}
fi
"$python" -m mpbert retrieve "runs/corpus/$corpus" "runs/trec/$corpus/$name" \
  --vectors "runs/vectors/$corpus/$method" "${flags[@]}"
