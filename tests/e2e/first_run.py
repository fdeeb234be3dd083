#!/usr/bin/env python3
"""One run of each of our programs on the main job, as its user's first: for `scripts/test.sh --quick`.

Usage: first_run.py BUILD
"""

import pathlib

from remote_job import proxy, remotely
from job import *  # noqa: F401,F403

COMMAND = (app("vadd"), "--elements", 65536, "--iterations", 50)


def answer(outcome):
    return without_numbers(outcome.out)


def recorded():
    outcome = traced(*COMMAND)
    same(outcome.code, 0, "exit status")
    return outcome


def test_gtrace():
    same(answer(recorded()), answer(good(*COMMAND)), "stdout")
    check("clEnqueueNDRangeKernel" in good(GTRACE, "show", "trace.db").text, "no launch in the trace")
    calls = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", "trace.db").json["functions"]}
    same(calls["clEnqueueNDRangeKernel"], 50, "launches")


def test_ganalyze():
    recorded()
    report = good(GANALYZE, "--json", "trace.db").json
    check(report["kernels"], "no kernels")


def test_goptimize():
    recorded()
    good(GANALYZE, "trace.db", "-o", "app.gprofile")
    optimized = good(GOPTIMIZE, "run", "--profile", "app.gprofile", "--stage", "always", "--", *COMMAND)
    same(answer(optimized), answer(good(*COMMAND)), "stdout")
    # Which of the two depends on when a block is used again, and so on how busy the machine is.
    check(any(how in optimized.err_text for how in ("staged:", "pinned on reuse:")), "nothing was staged, nor pinned")


def test_gproxy():
    with proxy() as p:
        there = remotely(p, *COMMAND)
        same((there.code, answer(there)), (0, answer(good(*COMMAND))), "exit status and stdout")


def test_gmicrobench():
    good(bin_dir / "gmicrobench", "platform", "--seconds", 2, "-o", "platform.json")
    keys(json.loads(pathlib.Path("platform.json").read_text()), "version", "devices")


main(dict(globals()))
