#!/usr/bin/env bash
# Put what the rows of eval/gpu.sh have left so far where it is taken from. Once the paper's model is made: the archives
# of the results and of its encoder, 3 parts a call that no earlier call has put there.
#   usage:  eval/bring.sh CORPUS CONFIG OUT STATE   then, at home: eval/parts.sh join OUT/CORPUS-CONFIG-results.tar.gz
#           STATE: finished, or any other word
#   reads:  runs/{pretrained,finetuned,cost,trec,report,kept}; runs/encoders/CORPUS/ROW-half, once it is there
#   writes: OUT/CORPUS-CONFIG-results.tar.gz.* and OUT/CORPUS-CONFIG-encoder.tar.gz.*; runs/parts: parts that wait
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:?"CONFIG is missing; see the usage line in $0"}
out=${3:?"OUT is missing; see the usage line in $0"} state=${4:?"STATE is missing; see the usage line in $0"}
row=mp_bert4cr_${config}_mpt_src_tgt
mkdir -p "$out"
files=("runs/cost/$corpus" "runs/trec/$corpus/$row" "runs/report/$corpus-$config-"{local,global} "runs/kept/$corpus-$config.jsonl")
[[ -z ${TUNE-} ]] || files+=("eval/tuned/$corpus.yaml" "eval/tuned/$corpus.trials")
for training in "runs/pretrained/$corpus/$config" "runs/finetuned/$corpus/$row"; do
  files+=("$training/train.log" "$training/configuration.yaml" "$training/tensorboard")
done
mapfile -t found < <(find "${files[@]}" -maxdepth 0 2>/dev/null)
half=runs/encoders/$corpus/$row-half pool=runs/parts/$corpus-$config
if [[ ! -d $half ]]; then # the last thing that eval/gpu.sh makes
  ((${#found[@]} == 0)) || eval/parts.sh split "$out/$corpus-$config-results.tar.gz" "${found[@]}"
  if [[ $config == none && $state == finished ]]; then
    echo "$out: all is done; at home: eval/parts.sh join FOLDER/$corpus-$config-results.tar.gz"
  else
    echo "$out: results so far; not finished: call eval/gpu.sh again"
  fi
  exit 0
fi
[[ -e $pool-results.tar.gz.sha256 ]] || eval/parts.sh split "$pool-results.tar.gz" "${found[@]}"
[[ -e $pool-encoder.tar.gz.sha256 ]] || eval/parts.sh split "$pool-encoder.tar.gz" "$half"
rm -f "$out/$corpus-$config"-results.tar.gz.* # of an earlier call, which was not finished
cp "$pool"-{results,encoder}.tar.gz.sha256 "$out"
waiting() { find runs/parts -name "$corpus-$config-*.tar.gz.part-*" | sort -r; } # results before the encoder
waiting | head -n 3 | xargs -d '\n' --no-run-if-empty mv -t "$out"
if [[ -n $(waiting) ]]; then echo "$out: 3 parts; $(waiting | wc -l) wait: call eval/gpu.sh again" && exit 0; fi
echo "$out: all is done; at home, in one folder: eval/parts.sh join FOLDER/$corpus-$config-results.tar.gz"
