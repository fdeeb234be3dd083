#!/usr/bin/env python3
"""The collector of a regular program needs no more memory for a hundred times the calls.

Usage: flat_memory.py BUILD
"""

from job import *  # noqa: F403

REGULAR = tests_dir / "interpose" / "bin" / "regular"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}
FEW, MANY = 20_000, 1_000_000  # the few fill the rings, which are memory of the collector's, too
SLACK = 3 << 20  # how much of the rings it has looked at depends on how far it was behind; 4 bytes a call would be seen


def peak_bytes(calls):
    outcome = traced(REGULAR, calls, env=FAKE, timeout=600)
    same(outcome.code, 0, "exit status")
    stats = good(GTRACE, "stats", "--json").json
    check(stats["trace"]["calls"] >= calls, f"{stats['trace']['calls']} calls recorded of {calls}")
    check(stats["trace"]["nodes"] < 100, f"{stats['trace']['nodes']} nodes: the program is not regular")
    return stats["facts"]["collector_peak_bytes"]


def test_memory_is_flat():
    few, many = peak_bytes(FEW), peak_bytes(MANY)
    check(few > 0, "no peak was noted")
    check(many <= few * 1.1 + SLACK, f"{few} bytes for {FEW} calls, {many} for {MANY}")


main(globals())
