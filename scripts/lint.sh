#!/usr/bin/env bash
# What clang says of the tree beyond what GCC does: members used without the mutex that guards them (thread-safety
# analysis of every file but tests: traces/base/thread_safety.h) and names that are not ours (clang-tidy, every header:
# .clang-tidy).
# Usage: scripts/lint.sh [FILE...]; of files that are named: all that clang-tidy says of each, too.
# Needs clang and clang-tidy (apt-get install clang clang-tidy), which scripts/deps.sh does not install. Exit status 1:
# something was found, 4: a tool is missing.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

for tool in clang++ clang-tidy; do
  command -v "$tool" >/dev/null || die 4 "no $tool: apt-get install clang clang-tidy"
done
cd "$root"
logged configure-lint cmake --preset lint
exec python3 scripts/lint.py build/lint "$@"
