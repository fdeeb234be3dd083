#!/usr/bin/env python3
"""Programs that treat OpenCL badly do so alike with and without us: their crashes are theirs, never ours to add.

Usage: hostile.py BUILD
"""

from job import *  # noqa: F403

PROGRAM = tests_dir / "hostile"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}  # no driver's own opinion of bad arguments


def alike(*arguments, launcher=(GTRACE, "run", "-o", "trace.db", "--")):
    bare = run(PROGRAM, *arguments, env=FAKE)
    outcome = run(*launcher, PROGRAM, *arguments, env=FAKE)
    same((outcome.code, outcome.out), (bare.code, bare.out), f"{' '.join(map(str, arguments))}: status and output")
    return bare


def trace():
    return good(GTRACE, "stats", "--json", "--top", 0, "trace.db").json


def calls(name):
    return {f["name"]: f["calls"] for f in trace()["functions"]}.get(name, 0)


def test_arguments_of_refused_calls_are_not_looked_at():
    same(alike("refused").code, 0, "exit status")
    same(calls("clSetKernelArg"), 2, "the refused calls are recorded")


def test_a_crash_in_a_call_is_recorded():
    same(alike("crash").code, 139, "exit status")
    check("unfinished" in good(GTRACE, "expand", "trace.db").text, "the call that crashed is not marked")


def test_gigantic_strings():
    same(alike("gigantic", 20_000_000).code, 0, "exit status")
    check(trace()["trace"]["bytes"] < 4_000_000, "blanks take space")


def test_many_short_threads():
    """Threads come and go; what they leave is folded like anything else."""
    sizes = []
    for n in (800, 8000):
        same(alike("threads", n).code, 0, "exit status")
        same(calls("clGetPlatformIDs"), n, "calls of all threads")
        sizes.append(trace()["trace"]["nodes"])
    check(sizes[1] <= sizes[0] + 16, f"the trace grows with the number of threads: {sizes}")


def test_the_optimizer_adds_no_crash():
    for arguments in (("refused",), ("crash",), ("threads", 400)):
        alike(*arguments, launcher=(GOPTIMIZE, "run", "--"))
        alike(*arguments, launcher=(GOPTIMIZE, "run", "--stage", "always", "--reuse", "always", "--"))


main(globals())
