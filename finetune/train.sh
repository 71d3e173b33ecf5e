#!/usr/bin/env bash
# Fine-tune manuscript and citation encoder, with fairseq. A killed training goes on where it was.
#   usage:  finetune/train.sh CORPUS [CONFIG] [NAME] [name=value ...]
#           e.g. finetune/train.sh rfc token_bag
#                finetune/train.sh rfc tiny mp_bert4cr_tiny_mpt_tgt objective=mpt-tgt
#                finetune/train.sh rfc token_bag plain-means token_weights=false
#   reads:  runs/binarized/CORPUS, finetune/configs/CONFIG.yaml, and runs/encoders/CORPUS/CONFIG-pretrained unless
#           CONFIG is token_bag
#   writes: runs/finetuned/CORPUS/NAME (checkpoints, train.log, tensorboard), runs/encoders/CORPUS/NAME
#   cost:   on 2 cores tiny 7 min, token_bag 1 min (rfc) or 10 min (acl), small 13 hours an epoch;
#           on a GPU medium minutes, paper hours
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-token_bag}
name=${3:-$([[ $config == token_bag ]] && echo token_bag || echo "mp_bert4cr_${config}_mpt_src_tgt")}
init=()
[[ $config == token_bag ]] || init=(--init "runs/encoders/$corpus/$config-pretrained")
"$python" -m mpbert finetune "runs/binarized/$corpus" "finetune/configs/$config.yaml" \
  "runs/encoders/$corpus/$name" --training "runs/finetuned/$corpus/$name" "${init[@]}" \
  --settings "${@:4}"
