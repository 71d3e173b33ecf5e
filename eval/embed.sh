#!/usr/bin/env bash
# Embed all papers, and the manuscripts of validation and test, with a trained encoder.
#   usage:  eval/embed.sh CORPUS ENCODER [flags]     e.g. eval/embed.sh rfc tiny-mpt-src-tgt --readings 5
#   reads:  runs/binarized/CORPUS, runs/encoders/CORPUS/ENCODER
#   writes: runs/vectors/CORPUS/ENCODER     cost: RFC tiny 20 s; ACL small an hour on 2 cores; resumes
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
encoder=${2:?"ENCODER is missing; see the usage line in $0"}
"$python" -m mpbert embed "runs/binarized/$corpus" "runs/encoders/$corpus/$encoder" \
  "runs/vectors/$corpus/$encoder" "${@:3}"
