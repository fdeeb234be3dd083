#!/usr/bin/env bash
# What whoever works on gtrace waits for, in seconds, beside what is promised: a clean build, all tests, and a line that
# changes in a file that few depend on, until its test has run. Alone on the machine, or the times say nothing.
# Usage: scripts/waits.sh [build] [tests] [change]      All three without arguments: half an hour on two processors.
# Exit status: 1 when a promise is missed.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

# A file, the narrowest test of it.
changes=(
  optimizer-rt/pool/residency.cc residency_test
  traces/model/fold/reduce.cc fold_test
  transport/link/base/window.cc link_test
  analyzer/kernels/written_type.cc kernel_source_test
)
build_promise=720 tests_promise=600 change_promise=20
missed=0
now() { date +%s%N; }

# report SECONDS PROMISED WHAT
report() {
  local verdict=PASS
  if awk "BEGIN { exit !($1 > $2) }"; then verdict=MISS missed=1; fi
  printf '%8.1f s  of %4d s  %s  %s\n' "$1" "$2" "$verdict" "$3"
}

since() { awk "BEGIN { printf \"%.1f\", ($(now) - $1) / 1e9 }"; }

# Without ccache, which would have the objects.
measure_build() {
  local clean="$root/build/waits" start
  rm -rf "$clean"
  logged waits-configure cmake -S "$root" -B "$clean" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
  start=$(now)
  CCACHE_DISABLE=1 logged waits-build cmake --build "$clean"
  report "$(since "$start")" $build_promise "a clean build"
  rm -rf "$clean"
}

measure_tests() {
  local start
  build_release
  start=$(now)
  logged waits-tests ctest --test-dir "$build" --output-on-failure -j $(($(nproc) + 1))
  report "$(since "$start")" $tests_promise "all tests"
}

measure_change() {
  local file=$1 test=$2 start built
  start=$(now)
  touch "$root/$file"  # the compiler does the same work as for another line
  CCACHE_DISABLE=1 logged waits-change cmake --build "$build" --target "$test"
  built=$(since "$start")
  logged waits-test ctest --test-dir "$build" -R "^unit\\.$test\$"
  report "$(since "$start")" $change_promise "$file to the end of $test ($built s of it to build)"
}

measure_changes() {
  build_release "${changes[1]}" "${changes[3]}" "${changes[5]}" "${changes[7]}"
  local i
  for ((i = 0; i < ${#changes[@]}; i += 2)); do measure_change "${changes[i]}" "${changes[i + 1]}"; done
}

cd "$root"
[ $# -gt 0 ] || set -- build tests change
for what in "$@"; do
  case $what in
    build) measure_build ;;
    tests) measure_tests ;;
    change) measure_changes ;;
    *) die 2 "build, tests or change, not $what" ;;
  esac
done
exit $missed
