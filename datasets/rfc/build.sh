#!/usr/bin/env bash
# Build the corpus store of the bundled sample, 593 RFCs.
#   usage:  datasets/rfc/build.sh [flags]     e.g. datasets/rfc/build.sh --split random
#   reads:  datasets/rfc/rfc-593.tar.xz     writes: runs/corpus/rfc     cost: 10 s, 6 MB
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./setup.sh
"$python" -m mpbert build-corpus datasets/rfc/rfc-593.tar.xz runs/corpus/rfc --reader rfc "$@"
