#!/usr/bin/env python3
"""Every #include goes along the arrows of docs/ARCHITECTURE.md, by a path from the root, in quotes.

Usage: include_direction.py ROOT
Before it judges the tree it judges a small planted one, in which it must find every violation and nothing else.
"""

import pathlib
import re
import sys
import tempfile

import sources

BASE = ("traces/base",)
API = BASE + ("traces/api",)
MODEL = API + ("traces/model",)
TRACES = MODEL + ("traces/kernels", "traces/store", "traces/contents", "traces/sandbox", "traces/samples")

# What a folder may include besides itself. The longest matching prefix of a file's path counts.
ALLOWED = {
    "traces/base": (),
    "traces/api": BASE,
    "traces/kernels": BASE,
    "traces/model": API,
    "traces/store": MODEL + ("traces/contents",),
    "traces/contents": BASE,
    "traces/sandbox": BASE,
    "tracer/interpose": MODEL,
    "tracer/lib": MODEL + ("tracer/interpose",),      # injected: no store, no SQLite
    "tracer": TRACES + ("tracer",),
    "transport/opencl": (),
    "transport/copy": API + ("transport/opencl",),
    "transport/memory": MODEL + ("transport/opencl",),
    "transport/staging": MODEL + ("transport/opencl", "transport/copy", "transport/memory", "transport/staging"),
    "transport/link": BASE + ("transport/link", "transport/staging"),
    "transport/chunks": BASE + ("transport/chunks", "transport/link", "transport/staging"),
    "transport/protocol": BASE + ("transport/copy", "transport/chunks", "transport/link", "transport/protocol"),
    "transport/usm": BASE + ("transport/opencl",),
    "transport/moves": BASE + ("transport/opencl", "transport/copy", "transport/memory", "transport/staging"),
    "transport/executor": MODEL + ("transport",),    # also runs inside programs: no store, no libclang
    "transport": TRACES + ("transport", "analyzer/kernels"),
    "analyzer/base": (),
    "analyzer/kernels": MODEL + ("traces/kernels",),
    "analyzer": TRACES + ("analyzer",),
    "microbench/apps": (),
    "microbench/base": MODEL + ("transport/memory",),
    "microbench": TRACES + ("transport", "microbench"),
    "optimizer-rt/pool": MODEL + ("transport/memory", "tracer/interpose"),
    "optimizer-rt/cl": MODEL + ("transport", "tracer/interpose", "optimizer-rt/pool", "optimizer-rt/client/base/optimizer.h"),
    "optimizer-rt/client": MODEL + ("traces/kernels", "transport", "optimizer-rt/client"),
    "optimizer-rt": TRACES + ("transport", "tracer/interpose", "optimizer-rt"),
    "tests": sources.FOLDERS,
}

# Heavy libraries that must not enter what is injected into programs.
KEPT_OUT = re.compile(r"^(sqlite3\.h|clang-c/|CLI/|nlohmann/)")
INJECTED = ("tracer/lib", "tracer/interpose", "optimizer-rt/pool", "optimizer-rt/cl", "transport/opencl",
            "transport/copy", "transport/memory", "transport/staging", "transport/moves", "transport/usm", "transport/executor", "transport/chunks", "transport/link", "transport/protocol",
            "optimizer-rt/client")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def under(path, folder):
    return path == folder or path.startswith(folder + "/")


def home(path):
    """The entry of ALLOWED that rules `path`."""
    return max((f for f in ALLOWED if under(path, f)), key=len)


def problem(root, path, form, target):
    """What is wrong with one include, or None."""
    ours = any(under(target, f) for f in sources.FOLDERS) or ".." in pathlib.PurePath(target).parts
    own = home(path)
    if form == "<":
        if ours or (root / target).exists():
            return f"<{target}> is ours: write it in quotes"
        if own in INJECTED and KEPT_OUT.match(target):
            return f"<{target}> must not enter injected code"
        return None
    if not ours or ".." in pathlib.PurePath(target).parts:
        return f'"{target}" does not start at the root of the tree'
    if not (root / target).is_file():
        return f'"{target}" does not exist'
    if not any(under(target, f) for f in (own,) + tuple(ALLOWED[own])):
        return f'"{target}": {own} may not include {home(target)}'
    return None


def check(root):
    root = pathlib.Path(root)
    problems = []
    paths = sources.files(root, folders=[f for f in sources.FOLDERS if (root / f).is_dir()])
    for path in paths:
        text = (root / path).read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            m = INCLUDE.match(line)
            found = m and problem(root, path.as_posix(), m[1], m[2])
            if found:
                problems.append(f"{path}:{number}: {found}")
    return problems, len(paths)


PLANTED = {
    "traces/base/a.h": "#include <vector>\n",
    "traces/model/b.h": '#include "traces/base/a.h"\n#include "traces/model/b.h"\n',
    "traces/base/bad_upwards.h": '#include "traces/model/b.h"\n',
    "analyzer/bad_sideways.cc": '#include "tracer/lib/c.h"\n',
    "tracer/lib/c.h": '#include "traces/model/b.h"\n',
    "tracer/lib/bad_heavy.cc": "#include <sqlite3.h>\n",
    "tracer/lib/bad_relative.cc": '#include "c.h"\n',
    "tracer/lib/bad_dots.cc": '#include "../lib/c.h"\n',
    "tracer/lib/bad_angle.cc": "#  include <tracer/lib/c.h>\n",
    "tracer/lib/bad_missing.cc": '#include "tracer/lib/none.h"\n',
    "tests/unit/d.cc": '#include "tracer/lib/c.h"\n',
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        for path, text in PLANTED.items():
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        problems, _ = check(folder)
    found = sorted({p.split(":")[0] for p in problems})
    expected = sorted(p for p in PLANTED if "bad_" in p)
    if found != expected:
        sys.exit(f"the test itself is wrong: found {found}, planted {expected}")


if __name__ == "__main__":
    self_test()
    sys.exit(sources.report("include_direction", *check(sys.argv[1])))
