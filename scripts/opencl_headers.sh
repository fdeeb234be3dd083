#!/usr/bin/env bash
# Adds what newer OpenCL headers declare to traces/api/gen/declarations.txt, and makes the table anew. For developers, when
# Khronos releases headers: building gtrace needs neither this nor them.
#
#   scripts/opencl_headers.sh            the release that the file is made of (a check: nothing changes)
#   scripts/opencl_headers.sh DIR NAME   headers that lie in DIR/CL; NAME says which, "OpenCL-Headers v2027.01.01"
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

release=v2026.05.29
commit=6fe718c31a45fe25151362a72ef041c3a1047cbd
headers_sha256=356be9a6cb77d4b06e8adcd7529d2341fb9c2fa08e1b39dc3bd3768cd7b1f22d # of CL/*.h, one after the other

[ $# -eq 0 ] || [ $# -eq 2 ] || die 2 "usage: opencl_headers.sh [DIR NAME]"
if [ $# -eq 2 ]; then
  directory=$1
  name=$2
else
  directory=$build/opencl_headers
  name="OpenCL-Headers $release"
  if [ ! -d "$directory" ]; then
    logged headers-fetch git clone --quiet --depth 1 --branch "$release" \
      https://github.com/KhronosGroup/OpenCL-Headers "$directory"
  fi
  [ "$(git -C "$directory" rev-parse HEAD)" = "$commit" ] || die 1 "$directory is not $release: remove it"
  [ "$(cat "$directory"/CL/*.h | sha256sum | cut -d' ' -f1)" = "$headers_sha256" ] || die 1 "$directory has been changed"
fi
[ -f "$directory/CL/cl.h" ] || die 2 "no CL/cl.h in $directory"

build_release gen_declarations gen_table
"$build/bin/gen_declarations" "$directory" "$name" "$root/traces/api/gen/declarations.txt"
logged headers-regenerate cmake --build "$build" --target regenerate
say "traces/api/gen: made anew of $name and what was there"
