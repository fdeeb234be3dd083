"""goptimize run --stage always: memory objects made from the program's memory (CL_MEM_COPY_HOST_PTR) have the same
contents, flags, errors and counts as without it, whatever call a driver refuses."""

import json
import pathlib
import re

from job import GOPTIMIZE, check, good, main, run, same, tests_dir

COPIED_IN = tests_dir / "optimizer" / "copied_in"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "FAKE_CL_SAY": "1"}
ERROR = -5
CALLS = ("clCreateBuffer", "clCreateBufferWithProperties", "clCreateCommandQueue", "clEnqueueWriteBuffer",
         "clWaitForEvents", "clReleaseEvent", "clReleaseMemObject", "clGetContextInfo", "clGetDeviceInfo", "clGetMemObjectInfo",
         "clCreateSubBuffer", "clRetainMemObject")


def staged(faults="", env=FAKE):
    done = run(GOPTIMIZE, "run", "--stage", "always", "--reuse", "never", "--report", "report.json", "--", COPIED_IN, ERROR,
               env=dict(env, FAKE_CL_FAIL=faults), timeout=90)
    return done, json.loads(pathlib.Path("report.json").read_text())


def seen(output, name):
    """What must not change: a driver that refuses to release something keeps its reference to the context."""
    return re.sub(rb"context: \d+ references", b"", output) if name.startswith("clRelease") else output


def test_on_every_driver():
    # PoCL counts references of its own to a parent, now and then.
    counted = lambda output: re.sub(rb"(parent: .* references) \d+", rb"\1", output)
    for env in (FAKE, {}):
        expected = good(COPIED_IN, ERROR, env=env)
        done, report = staged(env=env)
        same((done.code, counted(done.out)), (0, counted(expected.out)), "exit status and output")
        check(report["staged"]["transfers"] > 20, f"staged {report['staged']}")
        same(report["fallbacks"], {}, "fallbacks")


def test_any_call_is_refused():
    expected = good(COPIED_IN, ERROR, env=FAKE)
    for name in CALLS:
        for k in (1, 2, 3, 4, 6, 9, 14, 20):
            for faults in (f"{name}:{k}={ERROR}", f"{name}:{k}={ERROR},{name}:{k + 1}={ERROR}"):
                done, report = staged(faults)
                same((done.code, seen(done.out, name)), (0, seen(expected.out, name)),
                     f"exit status and output when {faults}")
                check(set(report["fallbacks"]) <= {"not_staged", "unknown_queue"}, f"{report['fallbacks']} when {faults}")
            if b"fake_cl:" not in done.err:
                break  # there are no more calls


main(globals())
