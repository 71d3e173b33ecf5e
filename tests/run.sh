#!/usr/bin/env bash
# Set up if needed, then run the tests.
#   usage:  bash tests/run.sh [--all] [flags of pytest]     e.g. bash tests/run.sh -m 'not slow'
#   --all:  also what takes minutes: every stage killed at 20 moments
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
# two cores: threads of several libraries at once only get in each other's way
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
"$python" -m pytest "$@"
