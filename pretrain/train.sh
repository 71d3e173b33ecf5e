#!/usr/bin/env bash
# Pretrain the encoder on masked sentences, with fairseq. A killed training goes on where it was.
#   usage:  pretrain/train.sh CORPUS [CONFIG] [name=value ...]
#           e.g. pretrain/train.sh rfc tiny max_update=12
#   reads:  runs/binarized/CORPUS, pretrain/configs/CONFIG.yaml
#   writes: runs/pretrained/CORPUS/CONFIG (checkpoints, train.log, tensorboard), runs/encoders/CORPUS/CONFIG-pretrained
#   cost:   on 2 cores tiny 2 min, small 8 hours; on a GPU medium minutes, paper hours
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
"$python" -m mpbert pretrain "runs/binarized/$corpus" "pretrain/configs/$config.yaml" \
  "runs/encoders/$corpus/$config-pretrained" --training "runs/pretrained/$corpus/$config" \
  --settings "${@:3}"
