#!/usr/bin/env bash
# Pretrain the hierarchical encoder with fairseq. Resumes if the output holds checkpoint_last.pt.
#   usage:  pretrain/train.sh CORPUS [CONFIG] [flags]     e.g. pretrain/train.sh rfc tiny
#   reads:  runs/binarized/CORPUS, pretrain/configs/CONFIG.flags
#   writes: runs/pretrained/CORPUS/CONFIG (checkpoints, train.log, tensorboard), runs/encoders/CORPUS/CONFIG-pretrained
#   cost:   on 2 cores tiny 2 min, small 8 hours; paper: hours on a GPU
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
flags_file=pretrain/configs/$config.flags
[[ -r $flags_file ]] || { echo "$0: no such configuration: $flags_file" >&2; exit 2; }
encoder=runs/encoders/$corpus/$config-pretrained
save=runs/pretrained/$corpus/$config
[[ -e $encoder ]] && { echo "$encoder: exists, reused" >&2; exit 0; }
mkdir -p "$save"
mapfile -t flags < <(grep -v '^ *\(#\|$\)' "$flags_file") # one --name=value per line
echo "pretraining $config on $corpus; log: $save/train.log" >&2
"$python" -m mpbert.model.fairseq_plugin.compat "runs/binarized/$corpus" --user-dir pretrain/mpbert_fairseq \
  --task mpbert_pretrain --arch mpbert_hibert --criterion mpbert_masked_sentences \
  --save-dir "$save" --tensorboard-logdir "$save/tensorboard" \
  "${flags[@]}" "${@:3}" >>"$save/train.log"
"$python" -m mpbert export-encoder "$save/checkpoint_best.pt" "runs/binarized/$corpus" "$encoder"
