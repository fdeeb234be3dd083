#!/usr/bin/env python3
"""--timing: what is sampled stands for the rest, and the program does not notice.

Usage: timing.py BUILD
The fake driver says exactly how long each command takes: 20 us a launch, 100 ns a transfer of 1000 bytes.
"""

import os

from job import *  # noqa: F403

LAUNCHES = 3000
NVIDIA = "4318"  # the vendor whose driver can switch profiling on a queue in use


def record(timing, vendor="1"):
    os.environ.update(OCL_ICD_VENDORS=str(tests_dir / "vendors"), FAKE_CL_KERNEL_NS="20000", FAKE_CL_VENDOR_ID=vendor)
    outcome = good(GTRACE, "run", "--timing", timing, "--", tests_dir / "sampled", LAUNCHES)
    same(outcome.text, "ok\n", "what the program saw")
    return good(GTRACE, "stats", "--json").json


def sums(stats):
    kernel, = stats["kernels"]
    transfer, = stats["transfers"]
    return kernel, transfer, {k: int(v) for k, v in stats["facts"].items() if k.startswith("commands_")}


def check_estimate(stats, most_timed):
    kernel, transfer, counts = sums(stats)
    same(kernel["total_ns"], 3 * LAUNCHES * 20000, "device time of the launches")
    same(kernel["timed"], 3 * LAUNCHES, "launches that the sum stands for")
    same(transfer["total_ns"], LAUNCHES * 100, "device time of the transfers")
    same(counts["commands_timed"] + counts["commands_estimated"], 4 * LAUNCHES, "commands")
    same(counts["commands_untimed"], 0, "untimed commands")
    check(4 * 64 <= counts["commands_timed"] <= most_timed, f"{counts['commands_timed']} commands timed")


def test_all():
    _, _, counts = sums(record("all"))
    same(counts["commands_timed"], 4 * LAUNCHES, "timed")
    same(counts["commands_estimated"], 0, "estimated")


def test_auto():
    check_estimate(record("auto"), 2000)


def test_auto_where_profiling_is_switched():
    check_estimate(record("auto", NVIDIA), 2000)


def test_one_in_ten():
    check_estimate(record("sample:10", NVIDIA), 2400)


def test_all_where_profiling_is_switched():
    _, _, counts = sums(record("all", NVIDIA))
    same(counts["commands_timed"], 4 * LAUNCHES, "timed")


def test_kernels_only():
    kernel, transfer, counts = sums(record("kernels"))
    same(kernel["timed"], 3 * LAUNCHES, "launches timed")
    same(counts["commands_untimed"], LAUNCHES, "transfers not timed")
    same(transfer["clock"], "host", "clock of the transfers")


def test_off():
    _, _, counts = sums(record("off"))
    same(counts["commands_untimed"], 4 * LAUNCHES, "untimed")


def test_analysis_says_that_it_is_estimated():
    record("auto")
    check("stand for the others" in good(GANALYZE, "trace.db").text, "ganalyze does not say that it estimates")


def test_wrong_words():
    for word in ("some", "sample:", "sample:0", "sample:x", "sample:3x"):
        one_line(run(GTRACE, "run", "--timing", word, "--", "true"), USAGE, "--timing")


def test_times_that_a_program_reads_are_no_structure():
    """It asks once for the start and the end of a launch: other numbers in each run, of a program that does the same."""
    said = []
    os.environ["OCL_ICD_VENDORS"] = str(tests_dir / "vendors")
    for file in ("a.db", "b.db"):
        same(traced(tests_dir / "sampled", 1, file=file).text, "ok\n", "what the program saw")
        said.append(good(GTRACE, "expand", "--calls", "clGetEventProfilingInfo", file).text)
    check(said[0] != said[1] and "COMMAND_END" in said[0], f"the times are in the trace: {said}")
    same(good(GTRACE, "digest", "a.db").text, good(GTRACE, "digest", "b.db").text, "digest")
    good(GTRACE, "diff", "--times", "off", "a.db", "b.db")


def test_times_that_a_program_reads_take_little_room():
    """A launch with two times more is some ten bytes more: each time is a number in a column."""
    os.environ["OCL_ICD_VENDORS"] = str(tests_dir / "vendors")
    sizes = {}
    for launches in (1000, 11000):
        same(traced(tests_dir / "sampled", launches, file=f"{launches}.db").text, "ok\n", "what the program saw")
        sizes[launches] = pathlib.Path(f"{launches}.db").stat().st_size
    check(sizes[11000] - sizes[1000] < 20 * 10000, f"sizes: {sizes}")


main(globals())
