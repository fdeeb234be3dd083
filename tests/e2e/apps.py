#!/usr/bin/env python3
"""The benchmark programs at tiny sizes: the same output natively, with memory pinned by hand, under gtrace and under
goptimize; what they refuse.

Usage: apps.py BUILD PROGRAM
"""

import json
import pathlib
import re

from app_sizes import TINY
from job import *  # noqa: F403

NAME = arguments[0]
COMMAND = (app(NAME), *TINY[NAME], "--iterations", 3)


def test_output():
    bare = good(*COMMAND)
    check(re.fullmatch(rf"{NAME}: checksum=[0-9a-f]{{16}} PASS\n", bare.text), f"stdout: {bare.text}")
    check(float(re.fullmatch(r"time_s=(\d+\.\d+)\n", bare.err_text)[1]) > 0, "no time")
    check(good(*COMMAND[:-1], 4).out != bare.out or NAME in ("transpose", "sgemm", "dgemm", "sw"), "iterations change nothing")
    same(good(*COMMAND, "--hand-pinned").out, bare.out, "stdout with memory pinned by hand")
    same(good(GTRACE, "run", "--", *COMMAND).out, bare.out, "stdout when traced")
    good(GANALYZE, "trace.db", "--min-ratio", 0)
    for policy in ("pin", "opencl"):
        outcome = good(GOPTIMIZE, "run", "--force-policy", policy, "--report", "report.json", "--", *COMMAND)
        same(outcome.out, bare.out, f"stdout under goptimize with {policy}")
        report = json.loads(pathlib.Path("report.json").read_text())
        same([s["policy"] for s in report["sites"]], [policy] * len(report["sites"]), "policies")
        check(report["injected"] or not report["sites"], "not injected")
    pathlib.Path(f"app_{NAME}.gprofile").unlink()
    same(good(GOPTIMIZE, "run", "--", *COMMAND, env={"XDG_DATA_HOME": "/proc/nowhere"}).out, bare.out,
         "stdout under goptimize without a profile")


def test_lost_bytes_are_noticed():
    """With a driver that forgets half of each transfer, one way or the other. A lost index may crash the device."""
    for way in ("write",) if NAME in ("pathfinder", "sw") else ("write", "read"):  # a mapped result; four bytes
        outcome = run(*COMMAND, env={"OCL_ICD_VENDORS": str(tests_dir / "lossy_driver"), "LOSE": way})
        check(outcome.code in ((1, 139) if NAME in ("bfs", "spmv") else (1,)), f"half of each {way} is lost: exit status")
        check(outcome.code == 139 or "FAIL: the device's result differs" in outcome.text, "not said")


def test_sizes():
    help_text = good(app(NAME), "--help").text
    for word in (TINY[NAME][0], "--iterations", "--hand-pinned", "--small", "--large"):
        check(word in help_text, f"no {word} in --help")
    # A preset is overruled by options, wherever they stand.
    same(good(*COMMAND, "--large").out, good(*COMMAND).out, "stdout of the same sizes")


def test_refusals():
    for words in (("--nonsense",), ("--iterations", 0), ("--iterations", -1), ("--iterations", "three"), ("--iterations",),
                  (TINY[NAME][0], 0), (TINY[NAME][0], 1 << 50), ("--small", "--large"), ("--platform", "x")):
        one_line(run(app(NAME), *words), USAGE, f"app_{NAME}")
    one_line(run(app(NAME), "--platform", 77), ENVIRONMENT, "platform 77")
    one_line(run(app(NAME), "--device", 77), ENVIRONMENT, "device 77")


main(globals())
