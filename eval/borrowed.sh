#!/usr/bin/env bash
# What a recipe for a borrowed machine begins with: commands that end in time; packages and a corpus, as they were sent.
#   usage:  corpus=CORPUS limit=SECONDS; . eval/borrowed.sh     (leaves $python set)
#   reads:  runs/sent/*.whl, if any: what the python3 of a machine without a network lacks;
#           runs/corpus/CORPUS, or its parts runs/sent/CORPUS.tar.gz.*; runs/sent/cache.tar.gz.*, if any: pretrained encoders
#   writes: runs/site, runs/corpus/CORPUS, runs/cache
set -euo pipefail
corpus=${corpus:?"CORPUS is missing"} limit=${limit:?"SECONDS is missing"}
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
export JAX_PLATFORMS=cpu # bm25s asks JAX where there is one, and that would take most of a GPU's memory
step ./setup.sh
. ./setup.sh
[[ -d runs/cache || ! -e runs/sent/cache.tar.gz.sha256 ]] || step eval/parts.sh join runs/sent/cache.tar.gz
[[ ! -d runs/cache ]] || export XDG_CACHE_HOME=$PWD/runs/cache HF_HUB_OFFLINE=1
[[ -d runs/corpus/$corpus || ! -e runs/sent/$corpus.tar.gz.sha256 ]] || step eval/parts.sh join "runs/sent/$corpus.tar.gz"
[[ -d runs/corpus/$corpus ]] || refuse "runs/corpus/$corpus: not there; build it, or bring it in parts (eval/parts.sh)"
