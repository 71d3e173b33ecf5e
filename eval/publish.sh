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
  python3 - "runs/report/$name/report.json" "docs/results/reports/$name.json" <<'END' # without what plots alone show
import json, sys
report = json.load(open(sys.argv[1]))
kept = {key: value for key, value in report.items() if key not in ("curves", "self_citation")}
open(sys.argv[2], "w").write(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
END
  for suffix in json txt; do
    if [[ -e runs/report/$name/cost.$suffix ]]; then
      cp "runs/report/$name/cost.$suffix" "docs/results/reports/$name.cost.$suffix"
    fi
  done
done
"$python" -m mpbert fill-tables README.md docs/benchmarks.md docs/results/*.md
