#!/usr/bin/env bash
# What a build spent its time on: its folders, and its most expensive files (seconds of the latest compilation, with
# whatever else ran then). Usage: scripts/costs.sh [FILES=10] [BUILD=build/release]
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

log="${2:-$build}/.ninja_log"
[ -r "$log" ] || die 4 "no $log: build first (cmake --build --preset release)"
awk -F '\t' '/^[0-9]/ && $4 ~ /\.o$/ { cost[$4] = ($2 - $1) / 1000 }
  END { for (file in cost) printf "%.1f %s\n", cost[file], file }' "$log" | sort -rn >"$log.costs"
trap 'rm -f "$log.costs"' EXIT
say "by folder, seconds of one processor:"
awk '{ split($2, part, "/"); sum[part[1]] += $1; all += $1 }
  END { for (folder in sum) printf "%8.0f %s\n", sum[folder], folder; printf "%8.0f all\n", all }' "$log.costs" | sort -rn
say "the most expensive files:"
head -n "${1:-10}" "$log.costs" | sed -E 's,CMakeFiles/[^/]*\.dir/,,; s,\.o$,,; s,^([0-9]+\.[0-9]) ,\1 s  ,'
