#!/usr/bin/env bash
# All rows of the report: what is not finished is made, one after another, then measured together.
#   usage:  eval/all.sh CORPUS [flags]     e.g. eval/all.sh rfc --only token_bag
#   reads:  runs/corpus/CORPUS, eval/rows, eval/tuned/CORPUS.yaml where it exists, */configs
#   writes: runs/vectors/CORPUS, runs/trec/CORPUS, runs/cost/CORPUS, runs/report/CORPUS[-global]
#   cost:   see runs/report/CORPUS/cost.txt; a killed one goes on with what is missing
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
failed=0
"$python" -m mpbert make-rows "runs/corpus/$corpus" eval/rows runs --tuned eval/tuned "${@:2}" || failed=$?
((failed == 0 || failed == 3)) || exit "$failed" # 3: some rows failed, the others are reported
eval/report.sh "$corpus"
if compgen -G "runs/trec/$corpus/global_*" >/dev/null; then eval/report.sh "$corpus" global; fi
exit "$failed"
