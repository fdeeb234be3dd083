#!/usr/bin/env python3
"""The same digest, the same number of rows and about the same file at any number of iterations.

Usage: constant_size.py BUILD MOST VADD-OPTION...      (MOST: the largest number of iterations)
"""

import pathlib

from job import *  # noqa: F403

MOST, OPTIONS = int(arguments[0]), arguments[1:]
PAGE = 4096


def measure(iterations):
    file = f"trace-{iterations}.db"
    outcome = traced(app("vadd"), "--elements", 64, "--iterations", iterations, *OPTIONS, file=file, timeout=300)
    same(outcome.code, 0, "exit status")
    trace = good(GTRACE, "stats", "--json", file).json["trace"]
    calls = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", file).json["functions"]}
    threads = int(OPTIONS[OPTIONS.index("--threads") + 1]) if "--threads" in OPTIONS else 1
    same(calls["clEnqueueNDRangeKernel"], iterations * threads, "launches counted")
    shape = {"nodes": trace["nodes"], "digest": trace["digest"]}
    return shape, pathlib.Path(file).stat().st_size


def test_constant():
    sizes = {}
    expected = None
    # A driver that compiles starts processes, and they are in the trace: let it fill its cache first.
    good(app("vadd"), "--elements", 64, "--iterations", 10, *OPTIONS)
    for n in (10, 1000, MOST):
        shape, sizes[n] = measure(n)
        expected = expected or shape
        same(shape, expected, f"{n} iterations and 10")
    check(max(sizes.values()) - min(sizes.values()) <= PAGE, f"file sizes: {sizes}")


main(globals())
