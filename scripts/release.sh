#!/usr/bin/env bash
# Makes a release: the tarball, the packages of Debian, the wheel, the source with its recipes, a list of what is inside
# (SBOM), and SHA256SUMS. The same commit gives the same bytes. On Debian 12; --help: its options.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

usage() {
  cat <<'END_OF_HELP'
usage: scripts/release.sh [--to FOLDER] [--url URL] [KIND...]

Builds what is asked for, by default all: tarball deb wheel source.

  --to FOLDER   where it goes (build/packages)
  --url URL     where gtrace-VERSION.tar.gz will lie, for the recipes of Spack and EasyBuild

SOURCE_DATE_EPOCH is the date of all files, by default that of the last commit.
END_OF_HELP
}

out="$root/build/packages" url= kinds=()
while [ $# -gt 0 ]; do
  case $1 in
    --to) [ $# -ge 2 ] || die 2 "--to needs a folder"
      out=$2
      shift ;;
    --url) [ $# -ge 2 ] || die 2 "--url needs a URL"
      url=$2
      shift ;;
    --help) usage; exit 0 ;;
    tarball | deb | wheel | source) kinds+=("$1") ;;
    *) die 2 "what is '$1'? (--help)" ;;
  esac
  shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(tarball deb wheel source)
. "$root/scripts/package/stage.sh"
. "$root/scripts/package/libclang.sh"
wanted() { case " ${kinds[*]} " in *" $1 "*) ;; *) false ;; esac; }

mkdir -p "$out"
out=$(readlink -f "$out")
if wanted tarball || wanted wheel; then
  build="$root/build/portable" configure_options=(-B "$root/build/portable" -DGT_PORTABLE=ON -DCMAKE_INSTALL_LIBDIR=lib)
  build_release installed
  ! wanted tarball || "$root/scripts/package/tarball.sh" "$build" "$out"
  ! wanted wheel || "$root/scripts/package/wheel.sh" "$build" "$out"
fi
if wanted deb; then
  build="$root/build/system"
  configure_options=(-B "$build" -DGT_PORTABLE=OFF -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=/usr)
  build_release installed
  "$root/scripts/package/deb.sh" "$build" "$out"
fi
! wanted source || "$root/scripts/package/source.sh" "$out" ${url:+"$url"}

cd "$out"
mapfile -t files < <(find . -type f ! -name SHA256SUMS ! -name '*.cdx.json' | sed 's|^\./||' | sort)
/usr/bin/python3 "$root/scripts/package/sbom.py" "$version" "$libclang_version" "$libclang_sha256" "${files[@]}" \
  >"gtrace-$version.cdx.json"
sha256sum "${files[@]}" "gtrace-$version.cdx.json" >SHA256SUMS
say "$out:"
cat SHA256SUMS
