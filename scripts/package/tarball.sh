#!/usr/bin/env bash
# The relocatable tarball: scripts/package/tarball.sh BUILD OUT, where BUILD was configured with GT_PORTABLE.
# Everything is inside but the C library and the OpenCL loader; unpacked anywhere (no spaces in the path), it works.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/../common.sh"
. "$root/scripts/package/stage.sh"
. "$root/scripts/package/libclang.sh"
[ $# -eq 2 ] || die 2 "usage: tarball.sh BUILD OUT"

name="gtrace-$version-x86_64"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage "$1" "$work/$name"
add_private "$work/$name"
add_documents "$work/$name"
same_dates "$work"
mkdir -p "$2"
tar -C "$work" --sort=name --format=posix --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime \
  --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -cf - "$name" |
  zstd --quiet -19 -T1 -f -o "$2/$name.tar.zst"
say "$2/$name.tar.zst: $(($(stat -c %s "$2/$name.tar.zst") / 1000000)) MB, glibc $(elf_files "$work" |
  xargs bash -c '. "$0/scripts/common.sh"; . "$0/scripts/package/stage.sh"; glibc_needed "$@"' "$root")"
