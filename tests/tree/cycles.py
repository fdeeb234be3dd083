#!/usr/bin/env python3
"""No units that include each other in a circle, and no folders that do.

A unit is what shares a path without its suffix: foo.h and foo.cc. A folder is its own files, not those of its
sub-folders. Usage: cycles.py ROOT
Before it judges the tree it judges a small planted one, in which it must find every circle and nothing else.
"""

import pathlib
import re
import sys
import tempfile

import sources

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def unit(path):
    return path.with_suffix("").as_posix()


def folder(path):
    return path.parent.as_posix()


def edges(root, paths, name):
    """name(file) -> {name(included): "file includes included"}, one example each."""
    graph = {}
    known = set(paths)
    for path in paths:
        found = graph.setdefault(name(path), {})
        for target in INCLUDE.findall((root / path).read_text(errors="replace")):
            target = pathlib.PurePosixPath(target)
            if target in known and name(target) != name(path):
                found.setdefault(name(target), f"{path} includes {target}")
    return graph


def knots(graph):
    """The strongly connected components with more than one member (Tarjan 1972, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        on_stack.remove(member)
                        members.append(member)
                        if member == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(sorted(graph.get(target, {})))))
            elif target in on_stack:
                low[node] = min(low[node], index[target])
    return found


def check(root):
    root = pathlib.Path(root)
    paths = [pathlib.PurePosixPath(p) for p in sources.files(root, folders=[
        f for f in sources.FOLDERS if (root / f).is_dir()])]
    problems = []
    for kind, name in (("units", unit), ("folders", folder)):
        graph = edges(root, paths, name)
        for members in knots(graph):
            problems.append(f"{len(members)} {kind} include each other in a circle: {', '.join(members)}")
            problems += [f"  {example}" for member in members
                         for target, example in sorted(graph[member].items()) if target in members]
    return problems, len(paths)


PLANTED = {
    # A knot of two units through the .cc of one, and of two folders without one of units.
    "traces/a/one.h": "",
    "traces/a/one.cc": '#include "traces/a/one.h"\n#include "traces/a/two.h"\n',
    "traces/a/two.h": '#include "traces/a/one.h"\n',
    "traces/b/three.h": '#include "traces/c/four.h"\n',
    "traces/c/four.h": '#include "traces/a/two.h"\n',
    "traces/c/five.h": '#include "traces/b/three.h"\n',
    "traces/d/six.h": '#include "traces/c/five.h"\n#include "traces/d/six.h"\n',
}
EXPECTED = [
    "2 units include each other in a circle: traces/a/one, traces/a/two",
    "  traces/a/one.cc includes traces/a/two.h",
    "  traces/a/two.h includes traces/a/one.h",
    "2 folders include each other in a circle: traces/b, traces/c",
    "  traces/b/three.h includes traces/c/four.h",
    "  traces/c/five.h includes traces/b/three.h",
]


def self_test():
    with tempfile.TemporaryDirectory() as planted:
        for path, text in PLANTED.items():
            file = pathlib.Path(planted) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        problems, _ = check(planted)
    if problems != EXPECTED:
        sys.exit(f"the test itself is wrong: found {problems}, planted {EXPECTED}")


if __name__ == "__main__":
    self_test()
    sys.exit(sources.report("cycles", *check(sys.argv[1])))
