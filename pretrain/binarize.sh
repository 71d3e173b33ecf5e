#!/usr/bin/env bash
# Train the tokenizer on the training split and store all sentences as token ids.
#   usage:  pretrain/binarize.sh CORPUS [flags]     e.g. pretrain/binarize.sh rfc --vocab-size 8000
#   reads:  runs/corpus/CORPUS     writes: runs/binarized/CORPUS     cost: 10 s (rfc), 5 min (acl)
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
"$python" -m mpbert binarize "runs/corpus/$corpus" "runs/binarized/$corpus" "${@:2}"
