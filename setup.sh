#!/usr/bin/env bash
# Make .venv and install everything; does nothing when it is up to date. Every recipe starts with it.
#   usage:  . ./setup.sh     (leaves $python set)     needs: Python 3.11+ with venv, g++
#   MPBERT_PYTHON=/path/to/python uses that one as it is and installs nothing (clusters, containers).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${MPBERT_PYTHON:-$root/.venv/bin/python}
stamp=$root/.venv/installed.txt
if [[ -z ${MPBERT_PYTHON:-} ]] && ! cmp -s "$root/requirements.txt" "$stamp"; then
  echo "setup: installing into .venv (about two minutes; log: .venv/install.log)" >&2
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "setup: found $(python3 --version); expected Python 3.11 or later" >&2; exit 2; }
  [[ -x $python ]] || python3 -m venv "$root/.venv"
  {
    "$python" -m pip install --upgrade pip
    "$python" -m pip install -r "$root/requirements.txt"
    # fairseq's own pins are of 2022 and refuse every current package; ours are above.
    # Build isolation stays on: with torch present its sdist builds a file that it lacks.
    "$python" -m pip install --no-deps fairseq==0.12.2
    "$python" -m pip install --no-deps --editable "$root" # the command mpbert, in .venv/bin
  } >"$root/.venv/install.log" 2>&1 ||
    { tail -n 5 "$root/.venv/install.log" >&2; echo "setup: installation failed; see .venv/install.log" >&2; exit 2; }
  cp "$root/requirements.txt" "$stamp"
fi
