#!/usr/bin/env bash
# Make and measure rows on a borrowed GPU in short calls: call it until it says that all is done.
# Each call goes on where the last one stopped, and puts what is to be taken home into OUT.
#   usage:  eval/gpu.sh CORPUS [CONFIG] [SECONDS]   e.g. eval/gpu.sh acl: the paper's model
#           ROWS="NAME NAME" adds rows; CONFIG none makes these alone. AT_ONCE=8 makes so many at the same time (4)
#           TUNE="--cpu-hours 0.75 --trials 4 --only NAME" first chooses settings, with these flags of mpbert tune
#   reads:  what eval/borrowed.sh reads; eval/rows, */configs
#   writes: what make-rows writes; runs/report/CORPUS-CONFIG-{local,global}; OUT (runs/gpu unless set), see eval/bring.sh
#   cost:   a call takes SECONDS (420), and at most two minutes more for a last checkpoint, figures and OUT
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-paper} limit=${3:-420} out=${OUT:-runs/gpu}
row=mp_bert4cr_${config}_mpt_src_tgt state=unfinished
others="hatten_paper dual_lcr_paper sbert_paper global_navigation_cross_encoder_paper"
read -ra rows <<<"${ROWS-$([[ $config != paper ]] || echo "$others")}"
[[ $config == none ]] || rows=("$row" "${rows[@]}")
. eval/borrowed.sh
((${#rows[@]})) || refuse "found no rows; expected ROWS=\"NAME NAME\" with configuration none"
[[ $config == tiny ]] || "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' ||
  refuse "found no GPU; expected one for configuration $config; without one: $0 rfc tiny 60"
bring() { # what is made by now is measured: this call may be the last one
  for task in local global; do
    timeout 40 "$python" -m mpbert report "runs/corpus/$corpus" eval/rows runs "runs/report/$corpus-$config-$task" \
      --task "$task" --tuned eval/tuned --kept "runs/kept/$corpus-$config.jsonl" --replace >/dev/null 2>&1 || true
  done
  eval/bring.sh "$corpus" "$config" "$out" "$state"
}
trap bring EXIT
read -ra tune <<<"${TUNE-}"
[[ -z ${TUNE-} ]] || step "$python" -m mpbert tune "runs/corpus/$corpus" eval/rows runs "eval/tuned/$corpus.yaml" \
  --at-once "${AT_ONCE:-4}" "${tune[@]}"
step "$python" -m mpbert make-rows "runs/corpus/$corpus" eval/rows runs --tuned eval/tuned --at-once "${AT_ONCE:-4}" \
  --only "${rows[@]}"
[[ $config == none ]] ||
  step "$python" -m mpbert export-encoder "runs/finetuned/$corpus/$row/checkpoint_best.pt" "runs/binarized/$corpus" \
    "runs/encoders/$corpus/$row-half" --half
state=finished
