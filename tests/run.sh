#!/usr/bin/env bash
# Set up if needed, then run the tests.
#   usage:  bash tests/run.sh [--all] [flags of pytest]     e.g. bash tests/run.sh -m 'not slow'
#   --all:  also what takes minutes: every stage killed at 20 moments
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
# two processes of one thread each: threads of several libraries only get in each other's way
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# files in the order of tests/conftest.py: otherwise those of a few long tests come last
"$python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder "$@"
