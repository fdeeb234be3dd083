"""goptimize run --stage always, and a driver that refuses any one call of staging's, or two in a row: the program sees
right bytes or the driver's own error, and never waits for ever.

The program is optimizer/waiting.c, which tries again what failed and prints what it saw. The driver is the fake one, which
holds commands behind user events.
"""

import json
import pathlib

from job import GOPTIMIZE, check, good, main, run, same, tests_dir

WAITING = tests_dir / "optimizer" / "waiting"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "FAKE_CL_SAY": "1"}
ERROR = -5
LAST = 12  # calls of one function that are refused, one after the other

# Everything that staging asks the driver for. The program calls most of it, too, and tries again.
CALLS = ("clCreateBuffer", "clReleaseMemObject", "clCreateCommandQueue", "clReleaseCommandQueue", "clEnqueueWriteBuffer",
         "clEnqueueReadBuffer", "clEnqueueMarkerWithWaitList", "clCreateUserEvent", "clSetUserEventStatus", "clFlush",
         "clWaitForEvents", "clReleaseEvent", "clRetainEvent", "clGetEventInfo", "clGetContextInfo",
         "clGetCommandQueueInfo", "clGetMemObjectInfo")


def staged(way, faults="", env=FAKE):
    done = run(GOPTIMIZE, "run", "--stage", "always", "--reuse", "never", "--report", "report.json", "--", WAITING, way,
               ERROR, env=dict(env, FAKE_CL_FAIL=faults), timeout=60)
    return done, json.loads(pathlib.Path("report.json").read_text())


def refused(way, in_a_row):
    """Every call of every function refused, by its number; how often something was left to the driver."""
    expected = good(WAITING, way, ERROR, env=FAKE)
    check(b"right" in expected.out and b"WRONG" not in expected.out, "the plain run")
    left = 0
    for name in CALLS:
        for k in range(1, LAST + 1):
            faults = ",".join(f"{name}:{k + i}={ERROR}" for i in range(in_a_row))
            done, report = staged(way, faults)
            same((done.code, done.out), (0, expected.out), f"exit status and output when {faults}")
            check(set(report["fallbacks"]) <= {"not_staged", "unknown_queue"}, f"{report['fallbacks']} when {faults}")
            left += report["fallbacks"].get("not_staged", 0)
            if done.err_text.count("fake_cl:") < in_a_row:
                break  # there are no more calls
    return left


def test_nothing_is_refused():
    for way in ("background", "small", "gated", "alone"):
        expected = good(WAITING, way, env=FAKE)
        done, report = staged(way)
        same((done.code, done.out), (0, expected.out), "exit status and output")
        # Small writes that wait for something and do not block are the driver's.
        small = way == "small"
        check(report["staged"]["transfers"] >= (2 if small else 4), f"staged {report['staged']}")
        same(set(report["fallbacks"]), {"not_staged"} if small else set(), "fallbacks")


def test_a_failed_event_before_it():
    for env in (FAKE, {}):  # the fake driver; the one that is installed
        expected = good(WAITING, "failing", env=env)
        done, report = staged("failing", env=env)
        same((done.code, done.out), (0, expected.out), "exit status and output")
        check(report["staged"]["transfers"] > 0, "staged")


def test_in_the_background():
    check(refused("background", 1) > 0, "nothing was left to the driver")


def test_small_ones():
    check(refused("small", 1) > 0, "nothing was left to the driver")


def test_blocking_behind_a_gate():
    check(refused("gated", 1) > 0, "nothing was left to the driver")


def test_blocking_alone():
    check(refused("alone", 1) > 0, "nothing was left to the driver")


def test_two_in_a_row():
    for way in ("background", "gated"):
        refused(way, 2)


main(globals())
