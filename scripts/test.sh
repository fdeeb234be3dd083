#!/usr/bin/env bash
# Installs what is needed, builds, and runs all tests. Arguments go to ctest, e.g. `scripts/test.sh -L unit`.
# Needs no GPU: PoCL is the OpenCL driver. Root or sudo only for packages.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

cd "$root"
scripts/deps.sh
build_release
say "tests: $(ctest --test-dir "$build" -N "$@" | sed -n 's/^Total Tests: //p')"
# The longest, before ctest's closing lines.
longest() {
  awk '/ Test +#[0-9]+: / && match($0, /[0-9.]+ sec/) { name = $0; sub(/.*#[0-9]+: /, "", name); sub(/ .*/, "", name)
      cost[name] += substr($0, RSTART, RLENGTH - 4) }
    /% tests passed/ { print "The longest tests:"; fflush()
      for (name in cost) printf "%8.1f s  %s\n", cost[name], name | "sort -rn | head -n 20"
      close("sort -rn | head -n 20"); print "" }
    { print; fflush() }'
}
# Programs that are killed at random and clocks of a busy machine: what fails once is run once more, and both are shown.
ctest --test-dir "$build" --output-on-failure --repeat until-pass:2 -j "$(nproc)" "$@" | longest
