#!/usr/bin/env bash
# Ask at test places of all that was known by then: papers are read with the contexts of validation, too. Nothing is trained.
#   usage:  eval/known.sh CORPUS ROW...     e.g. eval/known.sh acl bm25_fields token_bag_matches index_token_bag
#   reads:  runs, where eval/all.sh or mpbert make-rows made these rows: of words, of our model, or of an index
#   writes: runs/known, prints the measures of each row
#   RUNS, QRELS and MEASURES are set by eval/published.sh: where the rows lie, and what mpbert evaluate is told
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
corpus=${1:?"CORPUS is missing; see the usage line in $0"}
: "${2:?"ROW is missing; see the usage line in $0"}"
runs=${RUNS:-runs} known=(--known train valid)
of() { sed -n "s/^$1: //p" "$2/config.yaml"; }     # an option of an output
there() { echo "runs/known/${1#runs/}"; }          # where it is made again
again() { # COMMAND OUTPUT "INPUT..." OPTION...: make it again, with the options that it had
  local new="runs/known/${2#runs/}"
  mkdir -p "$(dirname "$new")"
  sed '/^\(corpus\|data\|encoder\|vectors\|index\|output\|known\): /d' "$2/config.yaml" >"$new.yaml"
  # shellcheck disable=SC2086 # inputs are words
  "$python" -m mpbert "$1" $3 "$new" --config "$new.yaml" "${@:4}"
}
embed() { again embed "$1" "$(of data "$1") $(of encoder "$1")" "${known[@]}" --splits test; }
store=$runs/corpus/$corpus
for row in "${@:2}"; do
  run=$runs/trec/$corpus/$row
  if index=$(of index "$run") && [[ -n $index ]]; then
    vectors=$(of vectors "$index")
    embed "$vectors"
    again build-index "$index" "$store $(of encoder "$index") $vectors" "${known[@]}" --known-vectors "$(there "$vectors")"
    again answer "$run" "$store $(there "$index")" --splits test
  elif vectors=$(of vectors "$run") && [[ $vectors != null ]]; then
    embed "$vectors"
    again retrieve "$run" "$store" --vectors "$(there "$vectors")" --splits test
  else
    again retrieve "$run" "$store" "${known[@]}" --splits test
  fi
  echo "$row"
  # shellcheck disable=SC2086 # measures are words
  "$python" -m mpbert evaluate "$store/${QRELS:-qrels.test.txt}" "$(there "$run")/test.run" ${MEASURES:---measures Recall@10 MAP@10}
done
