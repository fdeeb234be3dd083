#!/usr/bin/env bash
# The packages of Debian 12, gtrace and gproxy: scripts/package/deb.sh BUILD OUT, where BUILD was configured without
# GT_PORTABLE, and with /usr as its prefix. Libraries are Debian's, as dpkg-shlibdeps finds them.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/../common.sh"
. "$root/scripts/package/stage.sh"
[ $# -eq 2 ] || die 2 "usage: deb.sh BUILD OUT"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
maintainer="The gtrace developers <gtrace@packages.invalid>"

move() { # PATH...: from gtrace's files to gproxy's
  local path
  for path in "$@"; do
    mkdir -p "$work/gproxy/usr/$(dirname "$path")"
    mv "$work/gtrace/usr/$path" "$work/gproxy/usr/$path"
  done
}

depends() { # PACKAGE: what its programs and libraries are linked with
  mkdir -p "$work/debian"
  printf 'Source: gtrace\n\nPackage: %s\nArchitecture: amd64\n' "$1" >"$work/debian/control"
  (cd "$work" && elf_files "$1" | xargs dpkg-shlibdeps -O --ignore-missing-info -l"$work/gtrace/usr/lib/gtrace" 2>/dev/null) |
    sed 's/^shlibs:Depends=//'
}

documents() { # PACKAGE
  local doc="$work/$1/usr/share/doc/$1" page
  mkdir -p "$doc"
  { printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: gtrace\n\n'
    printf 'Files: *\nCopyright: %s the gtrace developers\nLicense: Apache-2.0\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y)"
    printf ' The full text is in /usr/share/common-licenses/Apache-2.0.\n'; } >"$doc/copyright"
  { printf 'gtrace (%s) unstable; urgency=medium\n\n  * See the project'"'"'s list of changes.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"; } | gzip -9n >"$doc/changelog.gz"
  for page in "$work/$1"/usr/share/man/man*/*; do [ ! -e "$page" ] || gzip -9n "$page"; done
}

package() { # PACKAGE DEPENDS RECOMMENDS SUMMARY DESCRIPTION
  local folder="$work/$1"
  documents "$1"
  mkdir -p "$folder/DEBIAN"
  (cd "$folder" && find usr -type f | sort | xargs md5sum) >"$folder/DEBIAN/md5sums"
  { printf 'Package: %s\nSource: gtrace\nVersion: %s\nArchitecture: amd64\nMaintainer: %s\n' "$1" "$version" "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -sk --apparent-size "$folder/usr" | cut -f1)"
    printf 'Depends: %s\n' "$2"
    [ -z "$3" ] || printf 'Recommends: %s\n' "$3"
    printf 'Section: devel\nPriority: optional\nDescription: %s\n%s\n' "$4" "$5"; } >"$folder/DEBIAN/control"
  same_dates "$folder"
  dpkg-deb --root-owner-group -Zxz -z6 --threads-max=1 --build "$folder" "$out/$1_${version}_amd64.deb" >/dev/null
  say "$out/$1_${version}_amd64.deb: $(($(stat -c %s "$out/$1_${version}_amd64.deb") / 1000)) kB"
}

mkdir -p "$2"
out=$(readlink -f "$2")
stage "$1" "$work/gtrace/usr"
mkdir -p "$work/gproxy"
move bin/gproxy share/man/man1/gproxy.1 share/gtrace/gproxy.hosts lib/systemd/system/gproxy.service \
  lib/systemd/user/gproxy.service
while read -r path; do move "$path"; done < <(cd "$work/gtrace/usr" && find share -path '*complet*' -name '*gproxy*' -o \
  -path '*site-functions*' -name '*gproxy*' | sort)
find "$work/gtrace" -type d -empty -delete
# The Python package where Debian's interpreter looks.
mkdir -p "$work/gtrace/usr/lib/python3/dist-packages"
mv "$work/gtrace/usr/share/gtrace/python/gtrace" "$work/gtrace/usr/lib/python3/dist-packages"
rmdir "$work/gtrace/usr/share/gtrace/python"
mkdir -p "$work/gtrace/usr/share/doc/gtrace"
cp "$root"/docs/*.md "$root"/docs/*.svg "$work/gtrace/usr/share/doc/gtrace"

# libclang asks for a header of its own to read OpenCL C; libcapstone and OpenSSL are loaded when needed.
clang=$(readelf -d "$work/gtrace/usr/lib/gtrace/libgtrace-kernels.so" | sed -n 's/.*\[libclang-\([0-9]*\).*/\1/p')
package gtrace "$(depends gtrace), libclang-common-$clang-dev" "pocl-opencl-icd | opencl-icd, python3" \
  "traces and speeds up OpenCL programs" " Records what a program does with its memory and its GPU, explains it, and
 runs it faster, without source, recompilation or configuration. GPUs of other
 machines are used as if they were here (gproxy serves them)."
package gproxy "$(depends gproxy)" "ocl-icd-libopencl1 | libopencl1, libssl3" \
  "serves a machine's OpenCL devices to programs of other machines" " The server for goptimize run --remote: nobody gets in without its token or
 certificate, each client has a process of its own. Comes with systemd units,
 which are not enabled."
