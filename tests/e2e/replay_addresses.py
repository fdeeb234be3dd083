#!/usr/bin/env python3
"""What cannot be as it was: addresses inside data (linked structures in shared virtual memory, which lies elsewhere in a
replay), and functions of the program.

Usage: replay_addresses.py BUILD
"""

from job import *  # noqa: F403


def recorded(*options):
    outcome = run(GTRACE, "run", "--capture", "full", *options, "--", tests_dir / "shared_list")
    if outcome.code == 77:
        raise Skip("no shared virtual memory")
    same(outcome.code, 0, f"exit status: {outcome.err_text}")


def test_a_list():
    recorded()
    for options in ((), ("--free-threads",)):
        j = json.loads(good(GTRACE, "replay", "--json", *options).text)
        check(j["compared"]["results"] >= 10, f"only {j['compared']} compared")
        same((j["compared"]["differing"], j["not_made"]), (0, {}), f"differing, not made: {j['differences']}")


def test_two_runs_do_not_differ_by_their_addresses():
    own = ("--no-alloc",) if driver.NAME != "pocl" else ()  # other drivers' own blocks differ from run to run
    recorded(*own)
    good(GTRACE, "run", "--capture", "full", *own, "-o", "again.db", "--", tests_dir / "shared_list")
    same(run(GTRACE, "diff", "--times", "off", "trace.db", "again.db").code, 0, "exit status of gtrace diff")


def test_markers_in_place_of_native_kernels():
    outcome = run(GTRACE, "run", "--capture", "full", "--", tests_dir / "callbacks", "native", 3)
    same(outcome.code, 0, "exit status")
    if "cannot" in outcome.text:
        raise Skip("the device runs no native kernels")
    j = json.loads(run(GTRACE, "replay", "--json").text)
    (what, times), = j["bridged"].items()
    check("clEnqueueNativeKernel" in what, what)
    same((times, j["not_made"], j["compared"]["differing"]), (4, {}, 1), "times, not made, results without them")


def test_a_program_that_its_callback_had_first():
    outcome = run(GTRACE, "run", "--capture", "full", "--", tests_dir / "linked")
    same((outcome.code, outcome.text), (0, "7\n"), "the program")
    for options in ((), ("--free-threads",)):
        j = json.loads(good(GTRACE, "replay", "--json", *options).text)
        same((j["not_made"], j["compared"]["results"], j["compared"]["differing"]), ({}, 1, 0), "not made, results, differing")


main(globals())
