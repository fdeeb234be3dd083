#!/usr/bin/env bash
# Installs what is needed, builds, and runs all tests; with --quick those of two minutes: most unit tests, the tree, one
# run of each program; with --drivers the end-to-end tests on other drivers than PoCL instead, which are installed for it
# (scripts/deps.sh --help). Other arguments go to ctest, e.g. `scripts/test.sh -L unit`.
# Needs no GPU: PoCL is the OpenCL driver. Root or sudo only for packages.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

more=() configure_options=(-DGT_TEST_DRIVERS=)
case ${1:-} in
  --quick)
    shift
    set -- -L quick "$@" ;;
  --drivers)
    shift
    set -- -L drivers "$@"
    more=(--drivers)
    configure_options=("-DGT_TEST_DRIVERS=intel;rusticl;oclgrind") ;;
esac
cd "$root"
scripts/deps.sh "${more[@]}"
build_release
say "tests: $(ctest --test-dir "$build" -N "$@" | sed -n 's/^Total Tests: //p')"
# What was run once more, and the longest tests, before ctest's closing lines.
remarks() {
  awk -v again="$build/once_more.txt" '/ Test +#[0-9]+: / && match($0, /[0-9.]+ sec/) { name = $0; sub(/.*#[0-9]+: /, "", name); sub(/ .*/, "", name)
      cost[name] += substr($0, RSTART, RLENGTH - 4) }
    /% tests passed/ { system("cat " again " 2>/dev/null"); print "The longest tests:"; fflush()
      for (name in cost) printf "%8.1f s  %s\n", cost[name], name | "sort -rn | head -n 20"
      close("sort -rn | head -n 20"); print "" }
    { print; fflush() }'
}
rm -f "$build/once_more.txt"
# Half of the tests wait more than they work: one more at a time than there are processors.
ctest --test-dir "$build" --output-on-failure -j $(($(nproc) + 1)) "$@" | remarks
