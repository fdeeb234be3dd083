#!/usr/bin/env bash
# Installs the packages that building, testing and showing gtrace need: only what is missing, on Debian 12 and
# Ubuntu 24.04. Needs root, or sudo for this step alone. Does nothing when everything is there.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

# The same names exist in both distributions.
tools=(g++ pkg-config cmake ninja-build ccache python3 python3-jsonschema util-linux binutils)
libraries=(libclang-dev libcapstone-dev libsqlite3-dev libffi-dev ocl-icd-opencl-dev opencl-headers
  libfmt-dev doctest-dev libcli11-dev nlohmann-json3-dev libzstd-dev libxxhash-dev libdw-dev libelf-dev libbenchmark-dev)
programs=(pocl-opencl-icd clinfo clpeak python3-pyopencl libclblast-dev
  libjemalloc2 libmimalloc2.0)  # what the tests and the demo run

missing=()
for package in "${tools[@]}" "${libraries[@]}" "${programs[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "packages: all installed"
  exit 0
fi

command -v apt-get >/dev/null || die 4 "this is not Debian or Ubuntu: install by hand: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die 4 "root or sudo is needed to install: ${missing[*]}"
  as_root=(sudo)
fi

say "packages: installing ${#missing[@]} (${missing[*]})"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"; }
logged apt-update apt update
logged apt-install apt install --no-install-recommends "${missing[@]}"
say "packages: done"
