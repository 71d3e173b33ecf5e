#!/usr/bin/env bash
# Ask at test places of all that was known by then: papers are read with the contexts of validation, too.
#   usage:  eval/known.sh CORPUS ROW...     e.g. eval/known.sh acl bm25_fields token_bag_matches index_token_bag
#   reads:  runs, where eval/all.sh or mpbert make-rows made these rows: of words, of our model, or of an index
#   writes: runs/known; with TRAIN=yes, runs/later: encoders learn these contexts, too. Prints the measures of each row
#   RUNS, QRELS and MEASURES are set by eval/published.sh: where the rows lie, and what mpbert evaluate is told
# shellcheck disable=SC2086 # inputs and measures are words
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"} && : "${2:?"ROW is missing; see the usage line in $0"}"
runs=${RUNS:-runs} store=${RUNS:-runs}/corpus/$corpus known=(--known train valid) made=${TRAIN:+later} made=${made:-known}
of() { sed -n "s/^$1: //p" "$2/config.yaml"; }     # an option of an output
there() { echo "runs/$made/${1#runs/}"; }          # where it is made again
again() { # COMMAND OUTPUT "INPUT..." OPTION...: make it again, with the options that it had
  new=$(there "$2") && mkdir -p "${new%/*}"
  sed '/^\(corpus\|data\|configuration\|encoder\|vectors\|index\|output\|training\|known\): /d' "$2/config.yaml" >"$new.yaml"
  "$python" -m mpbert "$1" $3 "$new" --config "$new.yaml" "${@:4}"
}
embed() { # VECTORS
  vectors=$1 data=$(of data "$1") encoder=$(of encoder "$1") trained=()
  [[ -z ${TRAIN:-} ]] || trained=(--known-encoder "$(there "$encoder")")
  [[ -z ${TRAIN:-} ]] || again finetune "$encoder" "$data $(of configuration "$encoder")" "${known[@]}"
  again embed "$1" "$data ${trained[1]:-$encoder}" "${known[@]}" --splits test
}
for row in "${@:2}"; do
  run=$runs/trec/$corpus/$row
  if index=$(of index "$run") && [[ -n $index ]]; then
    embed "$(of vectors "$index")"
    again build-index "$index" "$store $encoder $vectors" "${known[@]}" --known-vectors "$(there "$vectors")" "${trained[@]}"
    again answer "$run" "$store $(there "$index")" --splits test
  elif vectors=$(of vectors "$run") && [[ $vectors != null ]]; then
    embed "$vectors"
    again retrieve "$run" "$store" --vectors "$(there "$vectors")" --splits test
  else
    again retrieve "$run" "$store" "${known[@]}" --splits test
  fi
  echo "$row"
  "$python" -m mpbert evaluate "$store/${QRELS:-qrels.test.txt}" "$(there "$run")/test.run" ${MEASURES:---measures Recall@10 MAP@10}
done
