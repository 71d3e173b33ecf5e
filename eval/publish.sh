#!/usr/bin/env bash
# Put reports or the table of benchmarks among the results files of the documentation, and fill all tables anew.
#   usage:  eval/publish.sh NAME...     e.g. eval/publish.sh rfc rfc-global rfc-ablations benchmarks
#   reads:  runs/report/NAME, as eval/report.sh and eval/ablations.sh write it; for the name
#           benchmarks runs/benchmarks/table.md, as eval/benchmarks.sh writes it
#   writes: docs/results/reports/NAME.{json,cost.json,cost.txt}, README.md, docs/benchmarks.md, docs/results/*.md
#   cost:   a second
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
: "${1:?"NAME is missing; see the usage line in $0"}"
for name in "$@"; do
  if [[ $name == benchmarks ]]; then
    cp runs/benchmarks/table.md docs/results/reports/benchmarks.md
    continue
  fi
  cp "runs/report/$name/report.json" "docs/results/reports/$name.json"
  for suffix in json txt; do
    if [[ -e runs/report/$name/cost.$suffix ]]; then
      cp "runs/report/$name/cost.$suffix" "docs/results/reports/$name.cost.$suffix"
    fi
  done
done
"$python" -m mpbert fill-tables README.md docs/benchmarks.md docs/results/*.md
