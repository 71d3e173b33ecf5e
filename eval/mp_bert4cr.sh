#!/usr/bin/env bash
# One row of MP-BERT4CR: fine-tune from the pretrained encoder, embed, rank.
#   usage:  eval/mp_bert4cr.sh CORPUS [CONFIG] [NAME] [flags of fine-tuning]
#           e.g. eval/mp_bert4cr.sh acl small mpt-tgt --objective mpt-tgt
#   reads:  runs/corpus/CORPUS, runs/binarized/CORPUS, runs/encoders/CORPUS/CONFIG-pretrained
#   writes: runs/encoders, runs/vectors, runs/trec: CORPUS/CONFIG-NAME     cost: see finetune/train.sh
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
name=${3:-mpt-src-tgt}
finetune/train.sh "$corpus" "$config" "$name" "${@:4}"
eval/embed.sh "$corpus" "$config-$name"
eval/retrieve.sh "$corpus" "$config-$name"
