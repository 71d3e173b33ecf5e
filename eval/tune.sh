#!/usr/bin/env bash
# Choose the settings of every row on the validation split, with the same budget of CPU hours for each.
#   usage:  eval/tune.sh CORPUS [flags]     e.g. eval/tune.sh rfc --only word2vec sif
#   reads:  runs/corpus/CORPUS, eval/rows (what may be tried: space)
#   writes: eval/tuned/CORPUS.yaml, which eval/all.sh and eval/report.sh read, and beside it every trial:
#           eval/tuned/CORPUS.trials/ROW.jsonl
#   cost:   0.25 CPU hours a row, or one trial where that takes longer; a killed one goes on with the
#           trials that ended. Rows that rank anew what others ranked are left out until make-rows has
#           made these; then run this again, for the rows that are not in the file yet
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
"$python" -m mpbert tune "runs/corpus/$corpus" eval/rows runs "eval/tuned/$corpus.yaml" "${@:2}"
