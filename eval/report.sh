#!/usr/bin/env bash
# Measure all rows on a corpus, print the tables, write report.{txt,md,tex,html,json} and plots.
#   usage:  eval/report.sh CORPUS [SPLIT] [TASK] [flags]     e.g. eval/report.sh rfc --expected docs/results/reports/rfc.json
#           TASK: local (a query is a context; the default) or global (a whole paper)
#   reads:  runs/corpus/CORPUS, eval/rows, eval/tuned/CORPUS.yaml where it exists, runs/trec/CORPUS;
#           for test eval/claims.yaml and eval/paper_tables.yaml, too
#           --kept docs/results/kept/CORPUS.jsonl: also rows whose runs are not here
#   writes: runs/report/CORPUS[-global][-SPLIT, unless it is test], in place of an older one
#   cost:   seconds; half a minute and 1 GiB for a dozen runs of 30,000 queries
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
shift
split=test task=local
while [[ ${1:-} =~ ^(test|valid|local|global)$ ]]; do
  case $1 in test | valid) split=$1 ;; *) task=$1 ;; esac
  shift
done
output=runs/report/$corpus
[[ $task == local ]] || output+=-$task
papers=(--claims eval/claims.yaml --paper-tables eval/paper_tables.yaml)
[[ $split == test ]] || output+=-$split papers=() # settings were chosen on the other split
"$python" -m mpbert report "runs/corpus/$corpus" eval/rows runs "$output" --tuned eval/tuned \
  --split "$split" --task "$task" "${papers[@]}" --replace "$@"
