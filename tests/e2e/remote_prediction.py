#!/usr/bin/env python3
"""The predicted run time of remote devices, against an independent simulation of the same trace, on real programs.

Usage: remote_prediction.py BUILD
"""

import json

from job import *  # noqa: F403

SIMULATE = str(tests_dir / "simulate_link")
LINKS = ((0, 1000), (25, 9.4), (200, 1), (10000, 0.94))
TOLERANCE = 0.01


def agree(file):
    for latency, gbit in LINKS:
        result = good(SIMULATE, file, latency, gbit).json
        for kind in ("", "_local"):
            replayed, simulated = result["replayed" + kind], result["simulated" + kind]
            check(simulated > 0, "nothing was simulated")
            error = abs(replayed / simulated - 1)
            check(error <= TOLERANCE, f"{file}, {latency} us, {gbit} Gbit/s{kind}: {replayed} ns, simulated {simulated} ns")


def recorded(name, *options):
    good(GTRACE, "run", "-o", "trace.db", "--timing", "all", "--", app(name), *options)
    agree("trace.db")


def test_vadd():
    recorded("vadd", "--elements", 65536, "--iterations", 200)


def test_vadd_without_blocking():
    recorded("vadd", "--elements", 65536, "--iterations", 200, "--async")


def test_vadd_that_takes_turns():
    recorded("vadd", "--elements", 16384, "--iterations", 100, "--ping-pong", "--scalar", "--async")


def test_sgemm():
    recorded("sgemm", "--size", 128, "--iterations", 50)


def test_transpose():
    recorded("transpose", "--width", 256, "--height", 256, "--iterations", 50)


def test_report():
    recorded("vadd", "--elements", 65536, "--iterations", 100)
    report = good(GANALYZE, "trace.db", "--link", "25GbE,far=20000:1").text
    check("25GbE (assumed)" in report and "far (assumed)" in report, "a link is missing")
    remote = good(GANALYZE, "trace.db", "--json", "--link", "25GbE,far=20000:1").json["remote"]
    near, far = remote["links"]
    check(1 <= near["slowdown"] < far["slowdown"], f"slowdowns {near['slowdown']}, {far['slowdown']}")
    same(far["dominates"], "latency", "what decides over 20 ms")
    check(far["replies"] >= 100, f"{far['replies']} replies in 100 iterations that block")
    check(abs(far["seconds"] / sum(far["parts"].values()) - 1) < 0.01, "the parts do not add up")
    same(good(GANALYZE, "trace.db", "--json").json["remote"]["links"], [], "links without --link and platform")


def test_bad_links():
    recorded("vadd", "--elements", 1024, "--iterations", 2)
    for link in ("10GbF", "a=1", "=1:1", "a=x:1", "a=1:0", "a=-1:1", "a=1:1:1", "a=nan:1"):
        outcome = run(GANALYZE, "trace.db", "--link", link)
        same(outcome.code, USAGE, f"exit status for --link {link}")
        check("--link" in outcome.err_text and outcome.err_text.count("\n") == 1, f"stderr: {outcome.err_text}")


main(globals())
