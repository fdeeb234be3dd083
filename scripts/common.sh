# What the scripts share: messages, logged commands, the release build. Sourced, not run.
# Logs lie in build/logs; a command that fails shows the end of its log and stops the script.

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
build="$root/build/release"
logs="$root/build/logs"
configure_options=()  # more of them, for build_release

say() { printf '%s\n' "$*"; }
die() { # STATUS TEXT...
  local status=$1
  shift
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit "$status"
}

# logged NAME COMMAND...: quiet unless it fails.
logged() {
  local name=$1
  shift
  mkdir -p "$logs"
  "$@" >"$logs/$name.log" 2>&1 || failed "$name" "$*"
}

failed() { # NAME COMMAND
  tail -n 40 "$logs/$1.log" >&2
  die 1 "failed: $2 (the whole log: $logs/$1.log)"
}

# One line of progress for every tenth of a build; on a terminal ninja's own line is better.
progress() {
  awk -v RS='[\r\n]+' 'match($0, /^\[[0-9]+\/[0-9]+\]/) {
    split(substr($0, 2, RLENGTH - 2), n, "/"); tenth = int(10 * n[1] / n[2])
    if (tenth > last) { last = tenth; printf "  built %d %% (%d of %d)\n", 10 * tenth, n[1], n[2]; fflush() } }'
}

# build_release [TARGET...]: configures and builds build/release, with ccache when there is one.
build_release() {
  local cache=() targets=()
  [ $# -eq 0 ] || targets=(--target "$@")
  command -v ccache >/dev/null && cache=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # Another compiler may know other warnings: they stop us, not a user.
  local strict=OFF
  [ -n "${CI:-}" ] && strict=ON
  logged configure cmake -S "$root" --preset release "${cache[@]}" -DGT_WERROR="$strict" "${configure_options[@]}"
  say "build: $build"
  if [ -t 1 ]; then
    cmake --build "$build" "${targets[@]}" || die 1 "the build failed"
  else
    cmake --build "$build" "${targets[@]}" 2>&1 | tee "$logs/build.log" | progress || failed build "cmake --build $build"
  fi
  say "build: done after $((SECONDS / 60)) min $((SECONDS % 60)) s"
}
