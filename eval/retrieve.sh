#!/usr/bin/env bash
# Rank all papers for every validation and test context, by the vectors of one method.
#   usage:  eval/retrieve.sh CORPUS METHOD [flags]     e.g. eval/retrieve.sh rfc word2vec --top 200
#   reads:  runs/corpus/CORPUS, runs/vectors/CORPUS/METHOD     writes: runs/trec/CORPUS/METHOD
#   cost:   RFC: 1 s; ACL: about 20 s, 0.7 GiB
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
method=${2:?"METHOD is missing; see the usage line in $0"}
"$python" -m mpbert retrieve "runs/corpus/$corpus" "runs/trec/$corpus/$method" \
  --vectors "runs/vectors/$corpus/$method" "${@:3}"
