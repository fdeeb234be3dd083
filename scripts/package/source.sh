#!/usr/bin/env bash
# The source, and the recipes that build it: scripts/package/source.sh OUT [URL]. URL is where gtrace-VERSION.tar.gz will lie.
# What is committed goes in, nothing else.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/../common.sh"
. "$root/scripts/package/stage.sh"
[ $# -ge 1 ] || die 2 "usage: source.sh OUT [URL]"

mkdir -p "$1"
name="gtrace-$version"
git -C "$root" archive --format=tar --prefix="$name/" --mtime="@$SOURCE_DATE_EPOCH" HEAD 2>/dev/null >"$1/$name.tar" ||
  git -C "$root" archive --format=tar --prefix="$name/" HEAD >"$1/$name.tar"  # git before 2.39: the commit's date
gzip -9nf "$1/$name.tar"
sum=$(sha256sum "$1/$name.tar.gz" | cut -d' ' -f1)
url=${2:-file:///$name.tar.gz}
for recipe in spack/package.py easybuild/gtrace.eb container/Containerfile; do
  to="$1/recipes/$recipe"
  mkdir -p "$(dirname "$to")"
  sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sum|g" -e "s|@URL@|$url|g" "$root/scripts/package/$recipe.in" >"$to"
done
mv "$1/recipes/easybuild/gtrace.eb" "$1/recipes/easybuild/$name.eb"
say "$1/$name.tar.gz and $1/recipes"
