#!/usr/bin/env bash
# Measure all conditions on a corpus, print the tables, write report.{txt,md,tex,html,json} and plots.
#   usage:  eval/report.sh CORPUS [SPLIT] [flags]     e.g. eval/report.sh rfc test --expected
#   reads:  runs/corpus/CORPUS, eval/conditions, the runs they name (runs/trec/CORPUS/...)
#   writes: runs/report/CORPUS (SPLIT test) or runs/report/CORPUS-SPLIT, in place of an older one
#   cost:   seconds; half a minute and 1 GiB for a dozen runs of 30,000 queries
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
split=${2:-test}
output=runs/report/$corpus
[[ $split == test ]] || output+=-$split
"$python" -m mpbert report "runs/corpus/$corpus" "$output" --split "$split" --replace "${@:3}"
