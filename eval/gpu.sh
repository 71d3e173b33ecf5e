#!/usr/bin/env bash
# Train and measure the paper's model on a borrowed GPU in short calls: call it until it says that all is done.
# Each call goes on where the last one stopped, and puts what is to be taken home into OUT.
#   usage:  eval/gpu.sh CORPUS [CONFIG] [SECONDS]   e.g. eval/gpu.sh acl; ROWS="NAME NAME" adds rows
#   reads:  runs/corpus/CORPUS, or its parts runs/sent/CORPUS.tar.gz.*; eval/rows, */configs; runs/sent/*.whl, if any:
#           what the python3 of a machine without a network lacks
#   writes: what make-rows writes; runs/report/CORPUS-CONFIG; OUT (runs/gpu unless set), see eval/bring.sh
#   cost:   a call takes SECONDS (480), and at most a minute more for a last checkpoint and for OUT
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
config=${2:-paper} limit=${3:-480} out=${OUT:-runs/gpu}
row=mp_bert4cr_${config}_mpt_src_tgt
others="hatten_paper dual_lcr_paper sbert_paper global_navigation_cross_encoder_paper"
read -ra others <<<"${ROWS-$([[ $config != paper ]] || echo "$others")}"
refuse() { echo "$0: $*" >&2 && exit 2; }
step() { # one command, for what is left of this call
  local code=0 left=$((limit - SECONDS))
  ((left > 0)) || code=124
  ((code > 0)) || timeout --kill-after=45 "$left" "$@" || code=$?
  ((code != 124 && code != 137)) || { echo "$0: stopped after $SECONDS s" >&2 && exit 0; }
  ((code == 0)) || exit "$code"
}
if compgen -G "runs/sent/*.whl" >/dev/null; then # beside the packages of this machine, such as torch
  export MPBERT_PYTHON=${MPBERT_PYTHON:-python3} PYTHONPATH=$PWD/runs/site${PYTHONPATH:+:$PYTHONPATH}
  [[ -d runs/site ]] || "$MPBERT_PYTHON" -m pip install -q --no-index --no-deps --target runs/site runs/sent/*.whl ||
    { rm -rf runs/site && refuse "runs/sent: cannot be installed with $MPBERT_PYTHON; expected wheels for it"; }
fi
step ./setup.sh
. ./setup.sh
[[ $config == tiny ]] || "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' ||
  refuse "found no GPU; expected one for configuration $config; without one: $0 rfc tiny 60"
[[ -d runs/corpus/$corpus || ! -e runs/sent/$corpus.tar.gz.sha256 ]] || step eval/parts.sh join "runs/sent/$corpus.tar.gz"
[[ -d runs/corpus/$corpus ]] || refuse "runs/corpus/$corpus: not there; build it, or bring it in parts (eval/parts.sh)"
trap 'eval/bring.sh "$corpus" "$config" "$out"' EXIT # tells how far it is
step "$python" -m mpbert make-rows "runs/corpus/$corpus" eval/rows runs --tuned eval/tuned --only "$row" "${others[@]}"
step "$python" -m mpbert report "runs/corpus/$corpus" eval/rows runs "runs/report/$corpus-$config" --tuned eval/tuned \
  --kept "runs/kept/$corpus-$config" --replace
step "$python" -m mpbert export-encoder "runs/finetuned/$corpus/$row/checkpoint_best.pt" "runs/binarized/$corpus" \
  "runs/encoders/$corpus/$row-half" --half
