# What the scripts of this folder share: a build's installed files, stripped, and bytes that are the same every time.
# Sourced after scripts/common.sh. SOURCE_DATE_EPOCH is the date of every file in a package.

version=$(sed -n 's/^project(gtrace VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then  # of the last commit
  SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null) ||
    die 2 "set SOURCE_DATE_EPOCH: this is no git checkout, which would give the date"
fi
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

elf_files() { # FOLDER
  find "$1" -type f -exec sh -c 'head -c 4 "$1" | grep -q "^.ELF" && echo "$1"' _ {} \; | sort
}

# stage BUILD FOLDER: what BUILD installs, without debugging information.
stage() {
  rm -rf "$2"
  logged stage cmake --install "$1" --prefix "$2"
  elf_files "$2" | while read -r file; do strip --strip-unneeded "$file"; done
}

# The documentation and everybody's licences, in FOLDER/share/doc/gtrace.
add_documents() { # FOLDER
  local doc="$1/share/doc/gtrace" package
  mkdir -p "$doc/licences"
  (cd "$root" && cp README.md LICENSE CHANGELOG.md "$doc" && cp docs/*.md docs/*.svg "$doc")
  for package in libsqlite3-0 libzstd1 libdw1 libelf1 libcapstone4 libffi8 libfmt9 zlib1g libbz2-1.0 liblzma5 libstdc++6 \
      libcli11-dev nlohmann-json3-dev libxxhash-dev libclang-common-14-dev; do
    [ ! -e "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$doc/licences/$package"
  done
}

same_dates() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# The newest version of the C library that one of these files asks for: "2.36".
glibc_needed() { # FILE...
  readelf -W --version-info "$@" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}
