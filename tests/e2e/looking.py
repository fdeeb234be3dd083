#!/usr/bin/env python3
"""Looking at traces: timelines and their exports, differences, filters, sums.

Usage: looking.py BUILD
"""

import csv
import io
import json
import pathlib

from job import *  # noqa: F403
import perfetto

N = 30
LOOP = (app("vadd"), "--elements", 4096, "--iterations", N)


def record(file="trace.db", command=LOOP, timeline=True):
    flags = ["--timeline"] if timeline else []
    outcome = run(GTRACE, "run", *flags, "-o", file, "--", *command)
    same(outcome.code, 0, "exit status of the traced program")
    return file


def export(*flags, code=0):
    outcome = run(GTRACE, "export", *flags)
    same(outcome.code, code, "exit status")
    return outcome


def stats(file="trace.db"):
    return good(GTRACE, "stats", "--json", file).json


def test_perfetto_shows_calls_commands_and_flows():
    record()
    export("trace.db")
    trace = perfetto.Trace(pathlib.Path("trace.pftrace").read_bytes())
    calls = [s for s in trace.slices if s["name"].startswith("cl")]
    device = [s for s in trace.slices if trace.track_name(s).startswith("queue ")]
    summary = stats()
    same(len(calls) + len(trace.instants), summary["trace"]["calls"] + summary["trace"]["memory_calls"], "calls")
    same(sum(s["name"] == "clEnqueueNDRangeKernel" for s in calls), N, "launches")
    kernels = [s for s in device if "global_work_size" in s["args"]]
    same(len(kernels), N, "kernels on the device")
    same({s["name"] for s in kernels}, {k["name"] for k in summary["kernels"]}, "kernel names")
    check(all(s["args"]["allocation"] and s["args"]["bytes"] > 0 for s in device if "Buffer" in s["name"]),
          "transfers without bytes or allocation")
    # Every command hangs on the call that enqueued it, and ran after that was entered.
    error = int(summary["facts"]["timeline.device_clock_error_ns"])  # of the clocks
    by_flow = {s["flow"]: s for s in calls if s["flow"]}
    check(len(by_flow) == len(device) > 2 * N, f"{len(by_flow)} flows, {len(device)} commands")
    for s in device:
        call = by_flow[s["ends_flow"]]
        same(s["args"]["call"], call["args"]["call"], "the call of a command")
        check(s["start"] >= call["start"] - error, f"{s['name']} ran before its call")
    # The sums are those of the statistics.
    same(sum(s["end"] - s["start"] for s in kernels), sum(k["total_ns"] for k in summary["kernels"]), "kernel time")
    reads = [s for s in calls if s["name"] == "clEnqueueReadBuffer"]
    total = next(f["total_ns"] for f in summary["functions"] if f["name"] == "clEnqueueReadBuffer")
    same(sum(s["end"] - s["start"] for s in reads), total, "host time")
    # Blocking reads: the command lies within its call.
    for s in device:
        call = by_flow[s["ends_flow"]]
        if call["name"] == "clEnqueueReadBuffer":
            check(s["end"] <= call["end"] + 2 * error + 1_000_000, "a blocking read that ends after its call")


def test_chrome_is_json_and_says_the_same():
    record()
    export("--format", "chrome", "-o", "t.json", "trace.db")
    events = json.loads(pathlib.Path("t.json").read_text())
    launches = [e for e in events if e["name"] == "clEnqueueNDRangeKernel"]
    same(len(launches), N, "launches")
    for phase in "sf":
        same(len({e["id"] for e in events if e["ph"] == phase}), sum(e.get("cat") == "device" for e in events), phase)
    check(all(e["dur"] >= 0 for e in events if e["ph"] == "X"), "a negative duration")
    check(any(e["ph"] == "M" and e["args"]["name"].startswith("queue ") for e in events), "no queue track")


def test_rows_are_what_expand_prints():
    record()
    rows = list(csv.DictReader(io.StringIO(export("--format", "csv", "trace.db").text)))
    lines = good(GTRACE, "expand", "trace.db").text.splitlines()
    same(sorted(r["call"] for r in rows), sorted(l.split(" ", 2)[2] for l in lines), "calls")
    check(all(r["entry_ns"].isdigit() for r in rows), "rows without a time")
    entries = [int(r["entry_ns"]) for r in rows if r["stream"] == "opencl" and r["thread"] == "0"]
    same(entries, sorted(entries), "the order of a thread's calls")
    objects = export("--format", "json", "trace.db").json
    same(len(objects), len(rows), "objects")


def test_ranges_of_an_export():
    record()
    rows = list(csv.DictReader(io.StringIO(export("--format", "csv", "--no-memory", "trace.db").text)))
    middle = rows[len(rows) // 2]["entry_ns"]
    first = export("--format", "csv", "--no-memory", "--to", f"{middle}ns", "trace.db").text.splitlines()[1:]
    second = export("--format", "csv", "--no-memory", "--from", f"{middle}ns", "trace.db").text.splitlines()[1:]
    check(first and second, "an empty half")
    same(len(first) + len(second), len(rows), "the halves")
    some = list(csv.DictReader(io.StringIO(export("--format", "csv", "--calls", "5-9,clFinish", "trace.db").text)))
    check({int(r["n"]) for r in some} >= set(range(5, 10)), "calls 5 to 9")
    check(all(5 <= int(r["n"]) <= 9 or r["function"] == "clFinish" for r in some), "other calls")


def test_without_a_timeline():
    record("plain.db", timeline=False)
    for format in "perfetto", "chrome":
        one_line(export("--format", format, "plain.db", code=INPUT), INPUT, "--timeline")
    one_line(export("--format", "csv", "--from", "1s", "plain.db", code=INPUT), INPUT, "--timeline")
    check(export("--format", "json", "plain.db").json, "JSON needs no times")
    check(not pathlib.Path("plain.pftrace").exists(), "an empty file was left")
    record("timed.db")
    same(good(GTRACE, "digest", "plain.db").out, good(GTRACE, "digest", "timed.db").out, "digests with and without times")


def test_export_never_overwrites_the_trace():
    record()
    one_line(export("-o", "trace.db", "trace.db", code=USAGE), USAGE, "trace itself")
    stats()


def test_bad_ranges_and_files():
    record()
    pathlib.Path("text.db").write_text("no trace")
    for command in "show", "expand", "export":
        for flag, value in (("--calls", "9-1"), ("--calls", "@missing"), ("--object", "b999"), ("--thread", 99)):
            outcome = run(GTRACE, command, flag, value, "trace.db")
            one_line(outcome, ENVIRONMENT if value == "@missing" else USAGE)
    one_line(run(GTRACE, "export", "--from", "soon", "trace.db"), USAGE, "soon")
    one_line(run(GTRACE, "show", "--time-min", "1 h", "trace.db"), USAGE)
    one_line(run(GTRACE, "stats", "--by", "colour", "trace.db"), USAGE, "colour", "kernel")
    one_line(run(GTRACE, "diff", "trace.db"), USAGE)
    one_line(run(GTRACE, "diff", "trace.db", "text.db"), INPUT, "text.db")
    one_line(run(GTRACE, "diff", "trace.db", "missing.db"), ENVIRONMENT, "missing.db")
    one_line(run(GTRACE, "export", "-o", "missing/x", "trace.db"), ENVIRONMENT, "missing")


def test_diff():
    record("a.db", timeline=False)
    record("b.db", timeline=False)
    alike = run(GTRACE, "diff", "a.db", "b.db")
    same(alike.code, 0, "two runs of the same")
    check("the same calls" in alike.text and "clEnqueueNDRangeKernel" in alike.text, "no times")
    check("clEnqueueNDRangeKernel" not in good(GTRACE, "diff", "--times", "off", "a.db", "b.db").text, "times all the same")
    record("c.db", (app("vadd"), "--elements", 8192, "--iterations", 2 * N), timeline=False)
    other = run(GTRACE, "diff", "--json", "a.db", "c.db")
    same(other.code, 1, "more of larger")
    result = json.loads(other.out)
    kinds = {d["difference"] for d in result["differences"]}
    same(kinds, {"trip count", "argument"}, "kinds of difference")
    counts = [(d["a"], d["b"]) for d in result["differences"] if d["difference"] == "trip count"]
    check((str(N), str(2 * N)) in counts, f"trip counts: {counts}")
    check(any(d["argument"] == "size" and (d["a"], d["b"]) == ("16384", "32768") for d in result["differences"]), "sizes")
    kernel = result["kernels"][0]
    same((kernel["a_count"], kernel["b_count"]), (N, 2 * N), "launches")
    keys(result, "functions", "transfers", "allocations", "same", "a", "b")


def test_filters_of_expand():
    record()
    every = good(GTRACE, "expand", "trace.db").text.splitlines()
    numbered = {l.split(" ", 2)[1]: l for l in every if l.startswith("T0 ")}
    got = good(GTRACE, "expand", "--calls", "20-30,m3", "--thread", 0, "trace.db").text.splitlines()
    same(sorted(got), sorted([numbered["m3"]] + [numbered[f"#{n}"] for n in range(20, 31)]), "calls 20 to 30 and m3")
    launches = good(GTRACE, "expand", "--calls", "clEnqueueND*", "trace.db").text.splitlines()
    same(launches, [l for l in every if "clEnqueueNDRangeKernel(" in l], "launches")
    buffers = good(GTRACE, "expand", "--object", "b0", "trace.db").text.splitlines()
    check(buffers and all("b0" in l for l in buffers), "b0")
    pathlib.Path("set").write_text("7\nclFinish\n")
    same(good(GTRACE, "expand", "--calls", "@set", "trace.db").text.splitlines(),
         [l for l in every if l.split(" ", 2)[1] == "#7" or " clFinish(" in l], "a set from a file")
    head = run("sh", "-c", f"{GTRACE} expand trace.db | head -1")
    same((head.code, head.text.splitlines(), head.err_text), (0, every[:1], ""), "into head")


def test_filters_of_show_and_the_tree():
    record()
    launches = good(GTRACE, "show", "--calls", "clEnqueueND*", "trace.db").text
    check("clEnqueueNDRangeKernel" in launches and "clEnqueueRead" not in launches, "by name")
    check("loop ×" in launches, "the loop around it")
    check("clEnqueueND" not in good(GTRACE, "show", "--site", "libOpenCL*", "trace.db").text, "by site")
    check("no call fits" in good(GTRACE, "show", "--time-min", "1000s", "trace.db").text, "by time")
    tree = good(GTRACE, "show", "--tree", "--no-memory", "trace.db").text
    check(f"loop ×{N}" in tree or "loop ×" in tree, "no loop")
    check("├ " in tree and "100.0%" in tree and "φ" not in tree, "no tree")
    check("\x1b" not in tree, "colour into a pipe")


def test_stats_by_object_and_as_csv():
    record()
    result = stats()
    moved = {o["object"]: o for o in result["objects"]}
    launched = [o for o in moved.values() if o["kind"] == "buffer"]
    check(len(launched) == 3 and all(o["launches"] == N for o in launched), f"buffers: {launched}")
    h2d = sum(t["bytes"] for t in result["transfers"] if t["direction"] == "h2d")
    same(sum(o["h2d_bytes"] for o in launched), h2d, "bytes to the device, by buffer and by transfer")
    check(result["trace"]["calls_per_node"] > 1, "nothing folded")
    rows = list(csv.DictReader(io.StringIO(good(GTRACE, "stats", "--csv", "--by", "function", "trace.db").text)))
    same({r["name"]: int(r["calls"]) for r in rows}, {f["name"]: f["calls"] for f in result["functions"]}, "CSV and JSON")
    text = good(GTRACE, "stats", "--by", "kernel,transfer", "--name-width", 3, "trace.db").text
    check("Kernels by" in text and "Total" in text and "Host time" not in text, "sections")
    whole = good(GTRACE, "stats", "trace.db").text
    check(re.search(r"overhead\.collector_cpu_ns .*%", whole), "the tool's own cost in % of the wall time")


main(globals())
