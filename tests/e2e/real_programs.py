#!/usr/bin/env python3
"""Programs that know nothing of us do the same under gtrace and goptimize, and ganalyze makes sense of them.

Usage: real_programs.py BUILD clinfo|clpeak|pyopencl|clblast|blas
"""

import pathlib

from job import *  # noqa: F403

WHAT = arguments[0]
HERE = pathlib.Path(__file__).parent


def exact(data):
    return data


COMMANDS = {  # command, how two outputs are compared, does it launch kernels, does it transfer memory worth staging
    "clinfo": (("clinfo",), exact, False, False),
    "clpeak": (("clpeak", "--kernel-latency"), without_numbers, True, True),
    "pyopencl": (("/usr/bin/python3", HERE / "clients" / "pyopencl_job.py"), exact, True, True),
    "clblast": ((tests_dir / "clblast_job",), exact, True, True),
    "blas": ((tests_dir / "blas_calls",), exact, True, True),
}
COMMAND, COMPARED, LAUNCHES, TRANSFERS = COMMANDS[WHAT]
MOVING = ("clpeak", "--transfer-bandwidth") if WHAT == "clpeak" else COMMAND  # as much as it can
CACHES = {"PYOPENCL_NO_CACHE": "1"}
LITTLE = {"POCL_MEMORY_LIMIT": "1"}  # GiB: what programs move whose sizes are the device's is staged just so


def bare(command=COMMAND, env={}):
    needs(str(COMMAND[0]))
    if WHAT == "pyopencl" and run("/usr/bin/python3", "-c", "import pyopencl").code != 0:
        raise Skip("python3-pyopencl is not installed")
    return good(*command, env=CACHES | env)


def same_job(outcome, expected):
    same(outcome.code, expected.code, "exit status")
    same(COMPARED(outcome.out), COMPARED(expected.out), "stdout")


def test_record_and_analyze():
    expected = bare()
    same_job(traced(*COMMAND, env=CACHES), expected)
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    calls = {f["name"]: f["calls"] for f in stats["functions"]}
    check(calls.get("clGetPlatformIDs", 0) + calls.get("clGetDeviceIDs", 0) > 0, f"calls: {calls}")
    check(("clEnqueueNDRangeKernel" in calls) == LAUNCHES, f"launches: {calls}")
    good(GTRACE, "show", "trace.db")
    report = good(GANALYZE, "trace.db")
    check(len(report.text) > 100, "an empty report")
    result = good(GANALYZE, "--json", "trace.db").json
    keys(result, "dispatch_ratio", "eligible", "allocations", "kernels", "findings", "remote")
    if LAUNCHES:
        check(result["kernels"], "no kernels in the report")
        check(stats["kernels"][0]["total_ns"] > 0, "kernels take no time")
    else:
        check(not result["eligible"], "eligible without a kernel")


def test_optimize_with_and_without_a_profile():
    expected = bare()
    same_job(run(GOPTIMIZE, "run", "--", *COMMAND, env=CACHES, timeout=250), expected)
    good(GTRACE, "run", "--", *COMMAND, env=CACHES)
    good(GANALYZE, "trace.db")
    same_job(run(GOPTIMIZE, "run", "--", *COMMAND, env=CACHES, timeout=250), expected)


def test_everything_staged_and_reused():
    expected = bare(MOVING, env=LITTLE)
    outcome = run(GOPTIMIZE, "run", "--stage", "always", "--reuse", "always", "--report", "report.json", "--", *MOVING,
                  env=CACHES | LITTLE, timeout=250)
    same_job(outcome, expected)
    report = json.loads(pathlib.Path("report.json").read_text())
    check(report["injected"] and report["decision"], f"decision: {report['decision']}")
    served = report["staged"]["transfers"] + report["reused"]["transfers"]
    check((served > 0) == TRANSFERS, f"transfers {report['transfers']}, staged {report['staged']}")
    same(report["fallbacks"], {}, "fallbacks")


def test_the_report_says_what_is_gained():
    outcome = run(GOPTIMIZE, "run", "--report", "report.json", "--", *COMMAND, env=CACHES, timeout=250)
    same_job(outcome, bare())
    report = json.loads(pathlib.Path("report.json").read_text())
    said = "nothing to gain here" in outcome.err_text
    check(report["decision"] and (report["injected"] or said), f"decision: {report['decision']}\n{outcome.err_text}")
    if not TRANSFERS and report["injected"]:
        same(report["staged"]["transfers"], 0, "nothing to stage")


main(globals())
