#!/usr/bin/env bash
# Make .venv and install everything; does nothing when it is up to date. Every recipe starts with it.
#   usage:  . ./setup.sh     (leaves $python set)     needs: Python 3.11+ with venv and headers, g++
#   MPBERT_PYTHON=/path/to/python uses that one as it is and installs nothing (clusters, containers).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${MPBERT_PYTHON:-$root/.venv/bin/python}
is_done() { [[ -n ${MPBERT_PYTHON:-} ]] || { [[ -x $python ]] && cmp -s "$root"/{requirements.txt,.venv/installed.txt}; }; }
if [[ ${BASH_SOURCE[0]} != "$0" ]]; then
  is_done || bash "$root/setup.sh" || exit 2 # a process of its own, which ends at its first error
  return 0
fi
! is_done || exit 0

exec 3>&2 # what is said stays on the terminal, what pip writes goes into a file
say() { echo "setup: $*" >&3; }
refuse() { say "$@" && exit 2; }

# Set $base to the first Python on the path that is new enough.
find_base() {
  local name found=""
  for name in python3 python3.13 python3.12 python3.11 python3.14; do
    base=$name
    "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
    found=${found:-$("$name" --version 2>/dev/null || true)}
  done
  refuse "found ${found:-no Python}; expected Python 3.11 or later on the path"
}

# Refuse where something is missing that pip cannot bring: venv, and what fairseq is built with.
check_system() {
  local lacks=() headers='import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
  "$base" -c 'import ensurepip, venv' 2>/dev/null || lacks+=("$base-venv")
  "$base" -c "$headers" 2>/dev/null || lacks+=("$base-dev")
  [[ -n $(command -v "${CXX:-g++}") ]] || lacks+=(g++)
  ((!${#lacks[@]})) ||
    refuse "found no ${lacks[*]}, as Debian names what is missing; install it: apt-get install ${lacks[*]}"
}

check_space() { # usage: check_space GB-OF-THE-CLONE GB-OF-TEMPORARY-FILES WHAT
  local folder needed free size='import shutil, sys; print(shutil.disk_usage(sys.argv[1]).free // 10**9)'
  while read -r needed folder; do
    free=$("$base" -c "$size" "$folder")
    ((free >= needed)) ||
      refuse "$folder: found $free GB free; expected $needed for $3; make room${TMPDIR:+, or set TMPDIR to another folder}"
  done <<<"$1 $root"$'\n'"$2 ${TMPDIR:-/tmp}"
}

# Choose the build of torch: without CUDA where there is no GPU, if one is to be had.
install_torch() {
  local torch uv has_cuda='import json, sys
needs = (need for each in json.load(sys.stdin)["install"] for need in each["metadata"]["requires_dist"])
sys.exit(not any(need.startswith(("cuda-", "nvidia-")) for need in needs))'
  torch=$(grep '^torch==' "$root/requirements.txt")
  "$python" -m pip install --dry-run --quiet --no-deps --report - "$torch" | "$python" -c "$has_cuda" || return 0
  if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
    say "no GPU here; looking for torch without CUDA"
    uv=$(command -v uv) || { "$python" -m pip install uv && uv=$root/.venv/bin/uv; }
    "$uv" pip install --python "$python" --no-deps --torch-backend cpu "$torch" && return
    say "found none; torch brings CUDA: 3.2 GB to download and 6.7 GB on disk, with all else"
  fi
  check_space 10 4 "torch with CUDA"
}

find_base
check_system
check_space 4 2 "all packages"
exec 9<"$root" # one setup at a time
flock --nonblock 9 || { say "another setup is at work here; waiting for it" && flock 9; }
! is_done || exit 0
if [[ -e $root/.venv/unfinished ]] || ! "$python" -m pip --version >/dev/null 2>&1; then # none, or half of one
  say "making .venv, by $("$base" --version)"
  "$base" -m venv --clear "$root/.venv"
fi
touch "$root/.venv/unfinished"
exec >"$root/.venv/install.log" 2>&1
trap 'tail -n 5 "$root/.venv/install.log" >&3; refuse "installation failed; see .venv/install.log"' ERR
set -E
"$python" -m pip install --upgrade pip
install_torch
say "installing into .venv (about two minutes; log: .venv/install.log)"
"$python" -m pip install -r "$root/requirements.txt"
# fairseq's own pins are of 2022 and refuse every current package; ours are above.
# Build isolation stays on: with torch present its sdist builds a file that it lacks.
"$python" -m pip install --no-deps fairseq==0.12.2
"$python" -m pip install --no-deps --editable "$root" # the command mpbert, in .venv/bin
cp "$root/requirements.txt" "$root/.venv/installed.txt"
rm "$root/.venv/unfinished"
