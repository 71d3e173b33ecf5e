#!/usr/bin/env bash
# What each part of the token bag is worth: rows that differ from it in one thing, and their report.
#   usage:  eval/ablations.sh CORPUS [flags of make-rows]     e.g. eval/ablations.sh rfc --only bag_no_body
#   reads:  runs/corpus/CORPUS, eval/ablations.yaml, eval/ablation_claims.yaml, finetune/configs/token_bag.yaml
#   writes: runs/vectors/CORPUS, runs/trec/CORPUS, runs/cost/CORPUS, runs/report/CORPUS-ablations
#   cost:   19 fine-tunings, three times each with --seeds 3: on 2 cores 20 s (rfc) or 10 minutes (acl) each
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
"$python" -m mpbert make-rows "runs/corpus/$corpus" eval/ablations.yaml runs --configs . "${@:2}"
"$python" -m mpbert report "runs/corpus/$corpus" eval/ablations.yaml runs \
  "runs/report/$corpus-ablations" --configs . --claims eval/ablation_claims.yaml --replace
