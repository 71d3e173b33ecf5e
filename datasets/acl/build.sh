#!/usr/bin/env bash
# Build the corpus store of the ACL Anthology, papers up to 2013, from a local copy of papers.jsonl.xz.
#   usage:  datasets/acl/build.sh PAPERS [flags]     e.g. datasets/acl/build.sh ~/acl/papers.jsonl.xz
#   reads:  PAPERS (papers.jsonl or papers.jsonl.xz)     writes: runs/corpus/acl
set -euo pipefail
papers=$(realpath -e "${1:?"PAPERS is missing; see the usage line in $0"}")
cd "$(dirname "$0")/../.."
. ./setup.sh
"$python" -m mpbert build-corpus "$papers" runs/corpus/acl --reader acl "${@:2}"
