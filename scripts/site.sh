#!/usr/bin/env bash
# Builds the documentation as a static site with search: scripts/site.sh [FOLDER] (build/site). Needs mkdocs: the package of
# Debian or Ubuntu, or PyPI's (pip install mkdocs). A link that leads nowhere fails.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"

out=${1:-$root/build/site}
command -v mkdocs >/dev/null || die 4 "mkdocs is not installed: apt-get install mkdocs, or pip install mkdocs"
logged site mkdocs build --strict --config-file "$root/mkdocs.yml" --site-dir "$(readlink -m "$out")"
say "site: $out/index.html"
