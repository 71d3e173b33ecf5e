#!/usr/bin/env bash
# Fine-tune manuscript and citation encoder with fairseq. Resumes if the output holds checkpoint_last.pt.
#   usage:  finetune/train.sh CORPUS [CONFIG] [NAME] [flags]
#           e.g. finetune/train.sh rfc tiny mpt-tgt --objective mpt-tgt
#                finetune/train.sh rfc tiny no-pretraining --init '' --dim 128 ...
#                finetune/train.sh rfc light plain-means without=--token-weights   (takes a flag of CONFIG away)
#   reads:  runs/binarized/CORPUS, runs/encoders/CORPUS/CONFIG-pretrained, finetune/configs/CONFIG.flags
#   writes: runs/finetuned/CORPUS/CONFIG-NAME (checkpoints, train.log, tensorboard), runs/encoders/CORPUS/CONFIG-NAME
#   cost:   on 2 cores tiny 7 min, light 1 min (rfc) or 10 min (acl), small 13 hours an epoch; paper: hours on a GPU
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-tiny}
name=$config-${3:-mpt-src-tgt}
flags_file=finetune/configs/$config.flags
[[ -r $flags_file ]] || { echo "$0: no such configuration: $flags_file" >&2; exit 2; }
encoder=runs/encoders/$corpus/$name
save=runs/finetuned/$corpus/$name
[[ -e $encoder ]] && { echo "$encoder: exists, reused" >&2; exit 0; }
mapfile -t flags < <(grep -v '^ *\(#\|$\)' "$flags_file") # one --name=value per line
own=()
for flag in "${@:4}"; do
  if [[ $flag == without=* ]]; then
    grep -qx -- "${flag#without=}" "$flags_file" ||
      { echo "$0: $flags_file has no line ${flag#without=}" >&2; exit 2; }
    mapfile -t flags < <(printf '%s\n' "${flags[@]}" | grep -vx -- "${flag#without=}")
  else
    own+=("$flag")
  fi
done
mkdir -p "$save"
echo "fine-tuning $name on $corpus; log: $save/train.log" >&2
"$python" -m mpbert.model.fairseq_plugin.compat "runs/binarized/$corpus" --user-dir pretrain/mpbert_fairseq \
  --task mpbert_finetune --arch mpbert_two_tower --criterion mpbert_multi_positive \
  --init "runs/encoders/$corpus/$config-pretrained" \
  --save-dir "$save" --tensorboard-logdir "$save/tensorboard" \
  "${flags[@]}" "${own[@]}" >>"$save/train.log"
"$python" -m mpbert export-encoder "$save/checkpoint_best.pt" "runs/binarized/$corpus" "$encoder"
