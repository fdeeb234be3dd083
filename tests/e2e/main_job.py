#!/usr/bin/env python3
"""The main job on one of our programs: gtrace run, show, stats, expand, digest; ganalyze; goptimize run.

Usage: main_job.py BUILD APP
"""

import json
import pathlib

from job import *  # noqa: F403

SIZES = {"vadd": ("--elements", 65536, "--iterations", 50), "sgemm": ("--size", 128, "--iterations", 20),
         "transpose": ("--width", 512, "--height", 256, "--iterations", 20), "nbody": ("--bodies", 512, "--steps", 20),
         "vadd_dl": ("--elements", 65536, "--iterations", 50)}
NAME = arguments[0]
COMMAND = (app(NAME), *SIZES[NAME])
LAUNCHES = 50 if NAME.startswith("vadd") else 20 if NAME != "nbody" else 21


def record():
    outcome = traced(*COMMAND)
    same(outcome.code, 0, "exit status of the traced program")
    return outcome


def test_run_changes_nothing():
    bare, outcome = good(*COMMAND), record()
    same(outcome.out, bare.out, "stdout")
    check("trace.db" in outcome.err_text, "the trace's path is not on stderr")
    check("ganalyze" in outcome.err_text or "gtrace show" in outcome.err_text, "no next command on stderr")
    record()
    check(pathlib.Path("trace.db").exists(), "no second trace")


def test_older_traces_are_kept():
    for _ in range(3):
        good(GTRACE, "run", "--", *COMMAND)
    for name in ("trace.db", "trace.1.db", "trace.2.db"):
        good(GTRACE, "stats", name)


def test_show():
    record()
    shown = good(GTRACE, "show", "trace.db").text
    for word in ("clEnqueueNDRangeKernel", "clCreateContext"):
        check(word in shown, f"no {word} in gtrace show")
    check(len(shown.splitlines()) < 400, f"{len(shown.splitlines())} lines: not folded")
    same(good(GTRACE, "show").text, shown, "the newest trace is the default")


def test_stats():
    record()
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    keys(stats, "trace", "functions", "transfers", "kernels", "allocations", "overhead")
    keys(stats["trace"], "calls", "nodes", "digest", "bytes")
    calls = {f["name"]: f["calls"] for f in stats["functions"]}
    same(calls["clEnqueueNDRangeKernel"], LAUNCHES, "launches counted")
    same(sum(k["launches"] for k in stats["kernels"]), LAUNCHES, "launches by kernel")
    check(all(f["failed"] == 0 for f in stats["functions"] if f["name"].startswith("cl")), "a call failed")
    directions = {t["direction"] for t in stats["transfers"]}
    check(len(directions) >= 2, f"transfers in {directions} only")
    check(sum(t["total_ns"] for t in stats["transfers"]) > 0, "transfers take no time")
    check(stats["kernels"][0]["total_ns"] > 0, "kernels take no time")
    check(good(GTRACE, "stats", "trace.db").text.count("\n") > 5, "no tables for people")


def test_expand():
    record()
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    names = [l["call"] for l in lines]
    same(names.count("clEnqueueNDRangeKernel"), LAUNCHES, "launches expanded")


def test_digest_is_stable():
    record()
    good(GTRACE, "run", "-o", "second.db", "--", *COMMAND)
    first, second = good(GTRACE, "digest", "trace.db").text, good(GTRACE, "digest", "second.db").text
    same(first.split()[0], second.split()[0], "digests of two runs")


def test_analyze():
    record()
    report = good(GANALYZE, "trace.db").text
    check("ratio" in report, "no dispatch ratio in the report")
    result = good(GANALYZE, "trace.db", "--json").json
    keys(result, "dispatch_ratio", "eligible", "allocations", "kernels", "findings", "remote")
    keys(result["remote"], "eligible", "reasons")
    check(result["dispatch_ratio"] > 0, "the dispatch ratio is zero")
    same(result["eligible"], result["dispatch_ratio"] >= 0.1, "eligible at 0.1")
    check(len(result["allocations"]) >= 2, f"{len(result['allocations'])} allocations feed transfers")
    for a in result["allocations"]:
        keys(a, "site", "count", "bytes", "h2d", "d2h", "time_ns")
        keys(a["site"], "module", "offset", "function", "file", "line")
    functions = {a["site"]["function"] for a in result["allocations"]}
    check(any("allocate" in str(f) for f in functions), f"call sites: {functions}")
    check(any(str(a["site"]["file"]).endswith(".cc") and a["site"]["line"] for a in result["allocations"]), "no file:line")
    check(result["kernels"], "no kernels")
    for k in result["kernels"]:
        for argument in k["args"]:
            keys(argument, "index", "name", "address_space", "access")
    check(result["allocations"][0]["h2d"] + result["allocations"][0]["d2h"] > 0, "no bytes")


def test_profile_and_optimize():
    bare = good(*COMMAND)
    record()
    good(GANALYZE, "trace.db")
    profiles = list(pathlib.Path(".").glob("*.gprofile"))
    same([p.name for p in profiles], [f"app_{NAME}.gprofile"], "profiles written")
    check(list(pathlib.Path(".data").rglob("*.gprofile")), "no copy under XDG_DATA_HOME")
    outcome = run(GOPTIMIZE, "run", "--report", "report.json", "--", *COMMAND, timeout=250)
    same((outcome.code, outcome.out), (bare.code, bare.out), "status and stdout under goptimize")
    report = json.loads(pathlib.Path("report.json").read_text())
    keys(report, "sites", "staged", "pinned", "fallbacks")
    keys(report["staged"], "transfers", "bytes")
    keys(report["pinned"], "ranges", "bytes")
    eligible = good(GANALYZE, "trace.db", "--json").json["eligible"]
    check(bool(report["sites"]) == eligible, f"eligible: {eligible}, sites in the report: {report['sites']}")
    check(eligible or "nothing to gain" in outcome.err_text, "not said that there is nothing to gain")
    for site in report["sites"]:
        keys(site, "site", "policy", "allocations", "bytes", "hits", "saved_s")


main(globals())
