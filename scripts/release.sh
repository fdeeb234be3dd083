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
wanted() { case " ${kinds[*]} " in *" $1 "*) ;; *) false ;; esac; }
built() { # NAME OPTION...: build/NAME, as it is installed
  build="$root/build/$1" configure_options=(-B "$root/build/$1" -DCMAKE_INSTALL_LIBDIR=lib "${@:2}")
  build_release installed
}

mkdir -p "$out"
out=$(readlink -f "$out")
if wanted tarball || wanted wheel; then built portable -DGT_PORTABLE=ON; fi
! wanted deb || built system -DGT_PORTABLE=OFF -DCMAKE_INSTALL_PREFIX=/usr

# From here on dates, locale and modes are those of packages; before, a compiler's cache would know them from other builds.
. "$root/scripts/package/stage.sh"
. "$root/scripts/package/libclang.sh"
! wanted tarball || "$root/scripts/package/tarball.sh" "$root/build/portable" "$out"
! wanted wheel || "$root/scripts/package/wheel.sh" "$root/build/portable" "$out"
! wanted deb || "$root/scripts/package/deb.sh" "$root/build/system" "$out"
! wanted source || "$root/scripts/package/source.sh" "$out" ${url:+"$url"}

cd "$out"
mapfile -t files < <(find . -type f ! -name SHA256SUMS ! -name '*.cdx.json' | sed 's|^\./||' | sort)
/usr/bin/python3 "$root/scripts/package/sbom.py" "$version" "$libclang_version" "$libclang_sha256" "${files[@]}" \
  >"gtrace-$version.cdx.json"
sha256sum "${files[@]}" "gtrace-$version.cdx.json" >SHA256SUMS
say "$out:"
cat SHA256SUMS
