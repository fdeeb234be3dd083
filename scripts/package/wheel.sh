#!/usr/bin/env bash
# The wheel: scripts/package/wheel.sh BUILD OUT, where BUILD was configured with GT_PORTABLE.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/../common.sh"
. "$root/scripts/package/stage.sh"
. "$root/scripts/package/libclang.sh"
[ $# -eq 2 ] || die 2 "usage: wheel.sh BUILD OUT"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage "$1" "$work/stage"
add_private "$work/stage"
mkdir -p "$2"
elf_files "$work/stage" >"$work/files"
# shellcheck disable=SC2046
/usr/bin/python3 "$root/scripts/package/wheel.py" "$work/stage" "$2" "$version" "$(glibc_needed $(cat "$work/files"))"
