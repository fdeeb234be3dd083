# libclang for packages that bring theirs: the one that PyPI's libclang has, of LLVM 14 as in Debian 12, linked with nothing
# but the C library (2.6), 40 MB; Debian's needs 180 MB of libraries. Sourced after stage.sh.

libclang_version=14.0.6
libclang_sha256=206d2789e4450a37d054e63b70451a6fc1873466397443fa13de2b3d4adb2796
libclang_soname=libclang-14.so.13  # what gtrace is linked with on Debian 12

# add_libclang STAGE: into STAGE/lib/gtrace/private, with the one header that OpenCL C needs.
add_libclang() {
  local private="$1/lib/gtrace/private" cache="$root/build/downloads" needed headers
  needed=$(readelf -d "$1/lib/gtrace/libgtrace-kernels.so" | grep -o 'libclang[^]]*' || true)
  [ "$needed" = "$libclang_soname" ] ||
    die 4 "gtrace was built with $needed; packages are made on Debian 12, with its libclang-14-dev"
  headers=/usr/lib/llvm-14/lib/clang/$libclang_version/include
  mkdir -p "$cache" "$private/clang/$libclang_version/include"
  echo "libclang==$libclang_version --hash=sha256:$libclang_sha256" >"$cache/libclang.txt"
  if ! ls "$cache/libclang-$libclang_version"-*.whl >/dev/null 2>&1; then
    logged libclang /usr/bin/python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes \
      --platform manylinux2010_x86_64 --dest "$cache" --requirement "$cache/libclang.txt"
  fi
  (cd "$cache" && echo "$libclang_sha256  $(echo libclang-$libclang_version-*.whl)" | sha256sum --quiet --check) ||
    die 4 "$cache has another libclang than the one that was asked for"
  /usr/bin/python3 - "$cache"/libclang-$libclang_version-*.whl "$private/$libclang_soname" <<'PYTHON'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(n for n in wheel.namelist() if n.endswith("/libclang.so"))
open(sys.argv[2], "wb").write(wheel.read(name))
PYTHON
  cp "$headers/opencl-c-base.h" "$private/clang/$libclang_version/include"
}

# add_private STAGE: the libraries that GT_PORTABLE programs find beside themselves.
add_private() {
  local private="$1/lib/gtrace/private" name
  add_libclang "$1"
  for name in libcapstone.so.4 libz.so.1; do
    cp -L "/usr/lib/x86_64-linux-gnu/$name" "$private"
    strip --strip-unneeded "$private/$name"
  done
  chmod 644 "$private"/*.so*
}
