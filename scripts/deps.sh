#!/usr/bin/env bash
# Installs the packages that building, testing and showing gtrace need: only what is missing, on Debian 12 and
# Ubuntu 24.04. Needs root, or sudo for this step alone. Does nothing when everything is there. --help: its options.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

usage() {
  cat <<'END'
usage: scripts/deps.sh [--drivers [--to FOLDER]]

Installs the packages of Debian 12 or Ubuntu 24.04 that gtrace needs and that are missing.

  --drivers    also more OpenCL drivers, for `scripts/test.sh --drivers`, beside PoCL:
                 intel     Intel's CPU runtime (PyPI's intel-opencl-rt), in an environment of Python's venv: 830 MB
                 rusticl   Mesa's, on llvmpipe: the package mesa-opencl-icd unpacked, what it depends on installed
                 oclgrind  a simulator: the package installed (it names no driver to other programs)
               FOLDER/vendors/NAME/NAME.icd names each to the loader (OCL_ICD_VENDORS=FOLDER/vendors/NAME).
               /etc/OpenCL/vendors stays as it is: no other program sees these drivers.
  --to FOLDER  where they go (build/drivers)
END
}

drivers= folder="$root/build/drivers"
while [ $# -gt 0 ]; do
  case $1 in
    --drivers) drivers=yes ;;
    --to) [ $# -ge 2 ] || die 2 "--to needs a folder"
      folder=$2
      shift ;;
    --help) usage; exit 0 ;;
    *) die 2 "what is '$1'? (--help)" ;;
  esac
  shift
done
[ -n "$drivers" ] || [ "$folder" = "$root/build/drivers" ] || die 2 "--to is for --drivers"

# The same names exist in both distributions.
tools=(g++ pkg-config cmake ninja-build ccache python3 python3-jsonschema util-linux binutils)
libraries=(libclang-dev libcapstone-dev libsqlite3-dev libffi-dev ocl-icd-opencl-dev opencl-headers
  libfmt-dev doctest-dev libcli11-dev nlohmann-json3-dev libzstd-dev libxxhash-dev libdw-dev libelf-dev libbenchmark-dev)
programs=(pocl-opencl-icd clinfo clpeak python3-pyopencl libclblast-dev
  libjemalloc2 libmimalloc2.0)  # what the tests and the demo run

as_root=()
may_install() { # PACKAGE...
  command -v apt-get >/dev/null || die 4 "this is not Debian or Ubuntu: install by hand: $*"
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null || die 4 "root or sudo is needed to install: $*"
  as_root=(sudo)
}
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"; }

updated=
packages() { # PACKAGE...: installs those that are missing
  local missing=() package state
  for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  may_install "${missing[@]}"
  say "packages: installing ${#missing[@]} (${missing[*]})"
  update
  logged apt-install apt install --no-install-recommends "${missing[@]}"
  installed=yes
}
update() {
  [ -n "$updated" ] || logged apt-update apt update
  updated=yes
}

installed=
packages "${tools[@]}" "${libraries[@]}" "${programs[@]}"
say "packages: ${installed:+done}${installed:-all installed}"
[ -n "$drivers" ] || exit 0

# --- drivers ---------------------------------------------------------------------------------------------------------

intel_version=2026.2.0
mkdir -p "$folder"
folder=$(readlink -f "$folder")

named() { # NAME LIBRARY: the loader takes a library's real path; Intel's finds its own files beside that
  mkdir -p "$folder/vendors/$1"
  readlink -f "$2" >"$folder/vendors/$1/$1.icd"
  say "drivers: $1: $(cat "$folder/vendors/$1/$1.icd")"
}

intel() {
  local library="$folder/intel/lib/libintelocl.so"
  if [ ! -e "$library" ]; then
    packages python3-venv
    say "drivers: intel: pip installs intel-opencl-rt $intel_version and intel-cmplr-lib-rt into $folder/intel"
    rm -rf "$folder/intel"
    logged intel-venv /usr/bin/python3 -m venv "$folder/intel"
    # The second has libraries that the first is linked with and does not ask for.
    logged intel-pip "$folder/intel/bin/pip" install --quiet {intel-opencl-rt,intel-cmplr-lib-rt}"==$intel_version"
  fi
  named intel "$library"
}

# Its package would name two drivers, Clover and rusticl, to every program of this machine: it is unpacked.
rusticl() {
  local library needed
  if ! ls "$folder"/rusticl/usr/lib/*/libRusticlOpenCL.so.1 >/dev/null 2>&1; then
    may_install mesa-opencl-icd
    update
    needed=$(apt-get -s install --no-install-recommends mesa-opencl-icd |
      awk '$1 == "Inst" && $2 != "mesa-opencl-icd" { print $2 }')
    # shellcheck disable=SC2086
    [ -z "$needed" ] || packages $needed
    say "drivers: rusticl: unpacking mesa-opencl-icd into $folder/rusticl"
    rm -rf "$folder/rusticl" "$folder/package"
    mkdir "$folder/package"
    (cd "$folder/package" && logged mesa-download apt-get -qq download mesa-opencl-icd)
    logged mesa-unpack dpkg-deb -x "$folder"/package/*.deb "$folder/rusticl"
    rm -r "$folder/package"
  fi
  library=$(echo "$folder"/rusticl/usr/lib/*/libRusticlOpenCL.so.1)
  named rusticl "$library"
}

oclgrind() {
  packages oclgrind
  named oclgrind /usr/lib/oclgrind/liboclgrind-rt-icd.so
}

intel
rusticl
oclgrind
