#!/usr/bin/env bash
# Put files and folders into an archive in parts that are small enough to be sent, or join such parts.
#   usage:  eval/parts.sh split ARCHIVE PATH...   e.g. eval/parts.sh split runs/sent/acl.tar.gz runs/corpus/acl
#           eval/parts.sh join ARCHIVE            e.g. eval/parts.sh join runs/sent/acl.tar.gz
#   reads:  PATH..., below this folder; join: ARCHIVE.part-*, and ARCHIVE.sha256 that lists them
#   writes: ARCHIVE.part-000 and so on, of PART_BYTES (15M) each, and ARCHIVE.sha256; join: PATH...
set -euo pipefail
cd "$(dirname "$0")/.."
action=${1:?"split or join is missing; see the usage line in $0"}
archive=${2:?"ARCHIVE is missing; see the usage line in $0"}
folder=$(dirname "$archive") name=$(basename "$archive")
case $action in
  split)
    : "${3:?"PATH is missing; see the usage line in $0"}"
    mkdir -p "$folder"
    rm -f "$archive".part-* "$archive.sha256"
    tar --create --sort=name --owner=0 --group=0 "${@:3}" | gzip --no-name |
      split --bytes="${PART_BYTES:-15M}" --numeric-suffixes --suffix-length=3 - "$archive.part-"
    (cd "$folder" && sha256sum "$name".part-* >"$name.sha256.partial")
    mv "$archive.sha256.partial" "$archive.sha256" # so that it stands beside all parts or not at all
    ;;
  join)
    found=$(cd "$folder" && sha256sum --check --strict --quiet "$name.sha256" 2>/dev/null) ||
      { echo "$0: $archive: found missing or damaged parts ($(echo "${found:-no $name.sha256}" | tr '\n' ' ' |
        sed 's/: FAILED open or read\|: FAILED//g; s/ $//')); expected those of its list: bring them again" >&2; exit 2; }
    sed "s|^[^ ]* .|$folder/|" "$archive.sha256" | xargs -d '\n' cat | tar --extract --gzip
    ;;
  *) echo "$0: found $action; expected split or join" >&2; exit 2 ;;
esac
