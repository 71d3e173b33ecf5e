#!/usr/bin/env bash
# The four objectives of MP-BERT4CR, one after another, from the same pretrained encoder.
#   usage:  eval/objectives.sh CORPUS [CONFIG] [flags of fine-tuning]     e.g. eval/objectives.sh rfc tiny
#   reads:  as eval/mp_bert4cr.sh     writes: runs/trec/CORPUS/CONFIG-OBJECTIVE     cost: four fine-tunings
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
for objective in mpt-src-tgt mpt-src mpt-tgt triplet; do
  eval/mp_bert4cr.sh "$corpus" "$config" "$objective" --objective "$objective" "${@:3}"
done
