#!/usr/bin/env bash
# Run the benchmarks, each beside a peer or a bound in the same run, and write one table.
#   usage:  eval/benchmarks.sh [NAME...]     e.g. eval/benchmarks.sh counts sampling
#   reads:  tests/benchmarks/bench_NAME.py, all unless named; they need runs/corpus/rfc, runs/binarized/rfc,
#           runs/binarized/acl, runs/sentences/acl/all-MiniLM-L6-v2, runs/vectors/acl/token_bag_matches, in
#           VECTORS the vectors of ACL of an encoder, or runs/vectors/acl/mp_bert4cr_own_triplet, in RAW_ACL the
#           path of the raw papers.jsonl.xz of ACL, in INDEX that of an index, or runs/index/rfc, and in STORES the
#           URLs of servers of vectors, or none; ray needs pip install 'mpbert[ray]', words 'mpbert[words]', bag model2vec;
#           BAG and STATIC: see bench_opponents.py; other libraries and runs/corpus/acl are taken where they are; eval/publish.sh benchmarks publishes
#   writes: runs/benchmarks/NAME.txt, what each printed, and table.md, of these and of earlier ones
#   cost:   hours, 5 GiB, on a machine that does nothing else; growth took 44 minutes of them, and by an estimate 30 GB in TMPDIR; exit code 3 where one failed
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
output=runs/benchmarks
mkdir -p "$output"
names=("$@")
if (($# == 0)); then
  names=(tests/benchmarks/bench_*.py)
  names=("${names[@]#*/bench_}")
  names=("${names[@]%.py}")
fi
failed=0
for name in "${names[@]}"; do
  echo "benchmark $name" >&2
  PYTHONPATH=. "$python" "tests/benchmarks/bench_$name.py" | tee "$output/$name.txt" >&2 ||
    { failed=3 && echo "| $name | failed | - | - | - | - | - |" >>"$output/$name.txt"; }
done
{
  echo "## Benchmarks on $(uname -m), $(nproc) cores, $("$python" --version)"
  echo
  echo "| what | against | goal | ratio | ours | theirs | peak MiB, ours / theirs |"
  echo "|---|---|---|---|---|---|---|"
  for file in "$output"/*.txt; do
    name=$(basename "$file" .txt)
    grep '^| ' "$output/$name.txt" ||
      echo "| $name | - | - | - | $(tail -n 1 "$output/$name.txt") | - | - |"
  done
} | tee "$output/table.md"
exit "$failed"
