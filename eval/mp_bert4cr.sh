#!/usr/bin/env bash
# One row of MP-BERT4CR: fine-tune from the pretrained encoder, embed, rank.
#   usage:  eval/mp_bert4cr.sh CORPUS [CONFIG] [NAME] [draws=N] [first=K] [flags of fine-tuning]
#           e.g. eval/mp_bert4cr.sh acl small mpt-tgt --objective mpt-tgt
#           draws=N: vectors are means of N random readings (default: 1)
#           first=K: rank by the first K numbers of the vectors (see --nested-dims), into CONFIG-NAME-first-K
#   reads:  runs/corpus/CORPUS, runs/binarized/CORPUS, runs/encoders/CORPUS/CONFIG-pretrained
#   writes: runs/encoders, runs/vectors, runs/trec: CORPUS/CONFIG-NAME     cost: see finetune/train.sh
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
name=${3:-mpt-src-tgt}
flags=() draws=1 first=()
for flag in "${@:4}"; do
  case $flag in
    draws=*) draws=${flag#draws=} ;;
    first=*) first=("$flag") ;;
    *) flags+=("$flag") ;;
  esac
done
finetune/train.sh "$corpus" "$config" "$name" "${flags[@]}"
eval/embed.sh "$corpus" "$config-$name" --readings "$draws"
eval/retrieve.sh "$corpus" "$config-$name" "${first[@]}"
