#!/usr/bin/env python3
"""Cheap rules of style: a first line that says what the file is, 120 columns, file names, file sizes, no paths of
one machine, one form of private members, one mutex, scripts that are executable, no test or
source that CMake does not know.

Usage: style.py ROOT
"""

import os
import pathlib
import re
import sys

import sources

COLUMNS = 120
LONGEST = 600          # lines; a file beyond this holds more than one noun
GENERATED = re.compile(r"^traces/api/gen/|^tests/fake_cl/gen/")
NAME = re.compile(r"^[a-z0-9_]+(\.[a-z0-9]+)+$")
TEXT = sources.CODE + (".md", ".txt", ".cmake", ".py", ".sh", ".json", ".sql", ".def")
MEMBER = re.compile(r"\bx_[a-z]\w*")  # private members end with a _, as clang-tidy has it (.clang-tidy)
LOCK = re.compile(r"std::(recursive_|shared_|timed_)?mutex\b|std::(lock_guard|scoped_lock|shared_lock)\b")
PLACES = re.compile(r"/(work|home/[a-z]+|Users)/|/tmp/bash_jobs|/root/")


def code_problems(path, lines):
    own_header = f'#include "{path.with_suffix(".h")}"'  # which says it
    if not lines or not (re.match(r"//|/\*|#!|--", lines[0]) or lines[0] == own_header):
        yield 1, "the first line must say what the file is"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, {COLUMNS} at most"
        if MEMBER.search(line):
            yield number, f"{MEMBER.search(line)[0]}: members end with a _"
        if LOCK.search(line) and path.parts[0] != "tests" and path.as_posix() != "traces/base/mutex.h":
            yield number, f"{LOCK.search(line)[0]}: clang knows what a gt::Mutex guards (traces/base/mutex.h)"
        if "\t" in line or line != line.rstrip():
            yield number, "a tab, or a space at the end of the line"
    if len(lines) > LONGEST:
        yield len(lines), f"{len(lines)} lines: more than one noun? ({LONGEST} at most)"


def check(root):
    root = pathlib.Path(root)
    problems = []
    code = [p for p in sources.files(root) if not GENERATED.match(p.as_posix())]
    for path in code:
        lines = (root / path).read_text(errors="replace").splitlines()
        problems += [f"{path}:{n}: {what}" for n, what in code_problems(path, lines)]
        if not NAME.match(path.name):
            problems.append(f"{path}: file names are snake_case")
    texts = sources.files(root, TEXT, sources.FOLDERS + ("docs", "scripts", "cmake"))
    texts += [pathlib.Path(p) for p in ("README.md", "CHANGELOG.md", "CMakeLists.txt") if (root / p).exists()]
    for path in texts:
        if path.as_posix() == "tests/tree/style.py":
            continue
        for number, line in enumerate((root / path).read_text(errors="replace").splitlines(), 1):
            if PLACES.search(line):
                problems.append(f"{path}:{number}: a path of one machine")
    for path in ("scripts/deps.sh", "scripts/test.sh", "scripts/demo.sh", ".ci/run"):
        if not os.access(root / path, os.X_OK):
            problems.append(f"{path}: must be executable")
    return problems, len(texts)


if __name__ == "__main__":
    sys.exit(sources.report("style", *check(sys.argv[1])))
