#!/usr/bin/env python3
"""Launch-bound loops, whose calls a replay makes again without encoding them again: every argument still counts.

Usage: replay_loops.py BUILD
"""

from job import *  # noqa: F403

LAUNCHES = 6000


def replayed(way, *options):
    good(GTRACE, "run", "--capture", "full", "--", tests_dir / "launches", LAUNCHES, way)
    j = json.loads(good(GTRACE, "replay", "--json", *options).text)
    same((j["compared"]["results"], j["compared"]["differing"], j["not_made"]), (1, 0, {}), "results, differing, not made")
    return j


def test_what_varies_and_what_takes_turns():
    for options in ((), ("--free-threads",), ("--timing",), ("--overlap",)):
        replayed("turns", *options)


def test_numbers_alone():
    replayed("each")
    replayed("thousands")


def test_every_call_is_made():
    j = replayed("turns")
    made = sum(f["calls"] for f in j["functions"] if f["name"] == "clEnqueueNDRangeKernel")
    same(made, LAUNCHES, "launches made")


def test_a_driver_that_refuses_one_in_the_middle():
    fake = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OCL_ICD_FILENAMES": ""}
    good(GTRACE, "run", "--capture", "full", "--", tests_dir / "launches", LAUNCHES, "each", env=fake)
    good(GTRACE, "replay", env=fake)
    outcome = run(GTRACE, "replay", env=dict(fake, FAKE_CL_FAIL="clEnqueueNDRangeKernel:4000=-5"))
    one_line(outcome, outcome.code, "clEnqueueNDRangeKernel", "CL_OUT_OF_RESOURCES")
    check(outcome.code not in (0, 1), f"exit status {outcome.code}")


main(globals())
