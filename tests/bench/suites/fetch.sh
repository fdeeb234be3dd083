#!/bin/sh
# Clones a suite of benchmarks at the commit that its list was written for, and makes its random inputs.
#
#   tests/bench/suites/fetch.sh rodinia|parboil|shoc|polybench DEST
#
# DEST is then what the lists call $ROOT, once the suite is built there by its own instructions (README.md beside this file).
set -eu
here=$(dirname "$0")

case ${1-} in
  rodinia) repository=yuhc/gpu-rodinia commit=9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4 ;;
  parboil) repository=abduld/Parboil commit=a4c63da28f45699e9a274cbc49af3e067162aa2b ;;
  shoc) repository=vetter/shoc commit=0aea03beba2f09fcb5935cc11737372fe4de9ec0 ;;
  polybench) repository=cavazos-lab/PolyBench-ACC commit=70ea4ca9047dc4ec9c3ca79b4c91b3b2cc1510e7 ;;
  *) echo "fetch.sh: no suite '${1-}': rodinia, parboil, shoc or polybench" >&2; exit 2 ;;
esac
[ $# -eq 2 ] || { echo "fetch.sh: say where to: fetch.sh $1 DEST" >&2; exit 2; }
[ ! -e "$2" ] || { echo "fetch.sh: $2 is there already" >&2; exit 2; }

git clone --quiet "https://github.com/$repository" "$2"
git -C "$2" -c advice.detachedHead=false checkout --quiet "$commit"
case $1 in
  rodinia | parboil) "$here/make_inputs.py" "$1" "$2" ;;
esac
