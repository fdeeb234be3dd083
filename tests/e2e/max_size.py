#!/usr/bin/env python3
"""--max-size keeps the trace small and says what it left out: everywhere, and in numbers that add up.

Usage: max_size.py BUILD
"""

import pathlib

from job import *  # noqa: F403

CHAOS = tests_dir / "interpose" / "bin" / "chaos"
LIMIT = 300 << 10
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}


def record(limit, *command):
    outcome = run(GTRACE, "run", "--max-size", limit, "-o", "trace.db", "--", *command, env=FAKE)
    same(outcome.code, 0, "exit status")
    return outcome, good(GTRACE, "stats", "--json").json


def test_irregular_program_is_cut_and_counted():
    calls = 60000
    outcome, stats = record("300K", CHAOS, calls)
    check(pathlib.Path("trace.db").stat().st_size <= LIMIT, f"{pathlib.Path('trace.db').stat().st_size} bytes")
    cut = stats["summarised"]
    keys(cut, "calls", "memory_calls", "values")
    check(cut["calls"] > calls / 2, f"summarised: {cut}")
    check(re.search(r"--max-size left out (\d+) OpenCL calls", outcome.err_text), "gtrace run does not say so")
    args = next(f for f in stats["functions"] if f["name"] == "clSetKernelArg")
    same(args["calls"], calls, "calls counted")
    shown = good(GTRACE, "show").text
    check(f"{cut['calls']} calls summarised (--max-size)" in shown, "gtrace show does not say so")
    listed, left_out = 0, 0
    for line in good(GTRACE, "expand", "--json", "--no-memory").text.splitlines():
        call = json.loads(line)
        listed += "call" in call
        left_out += call.get("summarised", 0)
    same(left_out, cut["calls"], "calls that expand leaves out")
    same(listed + left_out, stats["trace"]["calls"], "calls listed and left out")


def test_regular_program_with_random_numbers_keeps_its_calls():
    _, stats = record("256K", CHAOS, 200000, "numbers")
    same(stats["summarised"]["calls"], 0, "summarised calls")
    check(stats["summarised"]["values"] > 100000, f"summarised: {stats['summarised']}")
    check(pathlib.Path("trace.db").stat().st_size <= 256 << 10, f"{pathlib.Path('trace.db').stat().st_size} bytes")
    last = good(GTRACE, "expand", "--json", "--no-memory").text.splitlines()[-4]
    check('"arg_value":null' in last, last)


def test_what_was_cut_is_not_replayed():
    """A replay says what is lacking, and makes no call with numbers of its own."""
    for command, what in (((CHAOS, 60000), "calls"), ((CHAOS, 200000, "numbers"), "--max-size left out what it was given")):
        record("256K", *command)
        one_line(run(GTRACE, "replay", "trace.db", env=FAKE), ENVIRONMENT, what)


def test_nothing_is_cut_that_fits():
    outcome, stats = record("64M", CHAOS, 2000)
    same(stats["summarised"], {"values": 0, "calls": 0, "memory_calls": 0}, "summarised")
    check("left out" not in outcome.err_text, "says that it left something out")


def test_wrong_sizes():
    one_line(run(GTRACE, "run", "--max-size", "lots", "--", "true"), USAGE, "lots")
    one_line(run(GTRACE, "run", "--max-size", "1K", "--", "true"), USAGE, "256K")


main(globals())
