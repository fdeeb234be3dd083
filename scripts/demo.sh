#!/usr/bin/env bash
# Installs what is needed, builds, and shows the main job on this machine: record a program, look at its trace,
# analyze it, and run it optimized. First a program of ours, then clpeak, which knows nothing of gtrace.
# Needs no GPU: PoCL is the OpenCL driver. Root or sudo only for packages.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

section() { printf '\n== %s\n' "$*"; }
# Shows a command as the reader would type it, then runs it; long output is cut.
show() {
  printf '\n$ %s\n' "$*"
  "$@" 2>&1 | awk -v most="${lines:-60}" 'NR <= most; END { if (NR > most) printf "... (%d more lines)\n", NR - most }' ||
    die 1 "failed: $*"
}

cd "$root"
section "Packages and build"
scripts/deps.sh
build_release demo
export PATH="$build/bin:$build/bin/apps:$PATH"

demo="$root/build/demo"
rm -rf "$demo"
mkdir -p "$demo"
cd "$demo"
export XDG_DATA_HOME="$demo/data" XDG_CACHE_HOME="$demo/cache"

section "The program alone (vector addition: write, launch, read, a thousand times)"
show app_vadd --elements 65536 --iterations 1000
section "1. Record it: nothing of it changes"
show gtrace run -- app_vadd --elements 65536 --iterations 1000
section "2. The trace: a thousand iterations, folded without loss; then where the time went"
lines=40 show gtrace show trace.db
lines=40 show gtrace stats trace.db
section "3. Analyze it: is it worth optimizing, and which allocations feed the transfers?"
show ganalyze trace.db
section "4. Run it optimized with what was learnt"
show goptimize run --report report.json -- app_vadd --elements 65536 --iterations 1000

section "The same for a program that is not ours: clpeak"
mkdir clpeak
cd clpeak
show gtrace run -- clpeak --kernel-latency --transfer-bandwidth
lines=30 show gtrace stats trace.db
lines=40 show ganalyze trace.db
show goptimize run -- clpeak --kernel-latency --transfer-bandwidth

section "Done"
say "The traces, profiles and reports are in $demo. All of it took $((SECONDS / 60)) min $((SECONDS % 60)) s."
say "Yours next:  export PATH=$build/bin:\$PATH;  gtrace run -- YOUR-PROGRAM"
