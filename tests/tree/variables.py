#!/usr/bin/env python3
"""docs/ENVIRONMENT.md lists every GTRACE_* variable: those of options as settings.def has them, and those of the code.

Usage: variables.py ROOT
"""

import pathlib
import re
import sys

import sources

PAGE = "docs/ENVIRONMENT.md"
NAME = r"GTRACE_[A-Z][A-Z_]*[A-Z]"
ROW = re.compile(r'^GT_SETTING_AND_VARIABLE\("[^"]*", "([^"]*)", "([^"]*)"', re.M)
TABLE_ROW = re.compile(rf"^\| `({NAME})` \| `?(--[a-z-]+)?", re.M)


def check(root):
    root = pathlib.Path(root)
    page = (root / PAGE).read_text()
    of_options = {name: "--" + flags.split("--")[1] for flags, name in ROW.findall((root / "traces/base/settings.def").read_text())}
    listed = {name: flag for name, flag in TABLE_ROW.findall(page) if flag}
    problems = [f"{PAGE}: {name} of {of_options.get(name)} is listed with {listed.get(name)}"
                for name in sorted(of_options.keys() | listed.keys()) if of_options.get(name) != listed.get(name)]
    known = set(re.findall(rf"`({NAME})", page))
    code = [p for p in sources.files(root) if p.parts[0] != "tests"]
    texts = [p.relative_to(root) for p in sorted((root / "docs").glob("*.md"))] + [pathlib.Path("README.md")]
    for paths, pattern in ((code, rf'"({NAME})"'), (texts, rf"`({NAME})")):
        for path in paths:
            unknown = set(re.findall(pattern, (root / path).read_text(errors="replace"))) - known
            problems += [f"{path}: {name} is not in {PAGE}" for name in sorted(unknown)]
    return problems, len(code) + len(texts)


if __name__ == "__main__":
    sys.exit(sources.report("variables", *check(sys.argv[1])))
