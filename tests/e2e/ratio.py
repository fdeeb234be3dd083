#!/usr/bin/env python3
"""The dispatch ratio of devices, queues and contexts, and of the steady state.

Usage: ratio.py BUILD
The fake driver says exactly how long each command takes: 20 us a launch, 1 us a transfer of 10000 bytes.
"""

from job import *  # noqa: F403

LAUNCHES, WRITES = 40, 60
LAUNCH_NS, WRITE_NS = 20000, 1000


def analyzed(timing="all", launches=LAUNCHES, writes=WRITES):
    os.environ.update(OCL_ICD_VENDORS=str(tests_dir / "vendors"), FAKE_CL_KERNEL_NS=str(LAUNCH_NS))
    good(GTRACE, "run", "--timing", timing, "--", tests_dir / "busy_queues", launches, writes)
    return good(GANALYZE, "--json", "trace.db").json


def busy(row):
    return row["kernel_ns"] // LAUNCH_NS, row["transfer_ns"] // WRITE_NS


def test_queues_and_contexts():
    report = analyzed()
    halves = (LAUNCHES // 2, WRITES // 2)
    same(sorted(map(busy, report["queues"])), sorted([(LAUNCHES, 0), (0, WRITES), halves]), "queues")
    same(sorted(map(busy, report["contexts"])), sorted([(LAUNCHES, WRITES), halves]), "contexts")
    whole = (LAUNCHES * 3 // 2, WRITES * 3 // 2)
    same(list(map(busy, report["devices"])), [whole], "devices")
    same(busy(report["time"]), whole, "program")
    want = whole[1] * WRITE_NS / (whole[0] * LAUNCH_NS)
    check(abs(report["dispatch_ratio"] - want) < 1e-9, f"ratio {report['dispatch_ratio']}, not {want}")
    for row in report["queues"] + report["contexts"]:
        check(row["site"]["function"] and row["name"] and len(row["devices"]) == 1, f"name and place of {row}")
        same(row["h2d_ns"], row["transfer_ns"], "all transfers were writes")
    same(len({row["name"] for row in report["queues"]}), 3, "names of queues")


def test_the_steady_state_leaves_first_executions_out():
    report = analyzed()
    # Each queue is made in a place of its own, so what runs on each are calls of their own: one of each is left out.
    steady = {busy(q): busy(q["steady"]) for q in report["queues"]}
    halves = (LAUNCHES // 2, WRITES // 2)
    same(steady, {(LAUNCHES, 0): (LAUNCHES - 1, 0), (0, WRITES): (0, WRITES - 1), halves: (halves[0] - 1, halves[1] - 1)},
         "queues")
    same(busy(report["time"]["steady"]), (LAUNCHES * 3 // 2 - 2, WRITES * 3 // 2 - 2), "program")
    same(busy(analyzed(launches=2, writes=0)["time"]["steady"]), (1, 0), "what runs once is not in it")


def test_what_was_not_timed_is_said_queue_by_queue():
    report = analyzed("kernels")
    same(sorted(q["untimed_transfers"] for q in report["queues"]), [0, WRITES // 2, WRITES], "untimed transfers")
    same(sum(q["untimed_kernels"] for q in report["queues"]), 0, "untimed kernels")
    check("Not timed" in good(GANALYZE, "trace.db").text, "the report does not say what was not timed")


def test_sampled_queues_add_up():
    report = analyzed("sample:5", 400, 600)
    total = report["time"]
    for rows in (report["queues"], report["contexts"]):
        same(sum(r["kernels"] + r["estimated_kernels"] for r in rows), 600, "launches")
        same(sum(r["transfers"] + r["estimated_transfers"] for r in rows), 900, "writes")
        check(abs(sum(r["kernel_ns"] for r in rows) / total["kernel_ns"] - 1) < 0.001, "time of the launches")


def test_report():
    analyzed()
    text = good(GANALYZE, "trace.db", "--width", "160").text
    check(re.search(r"Without the first execution", text), "no steady state")
    same(len(re.findall(r"^ +queue \S+ ", text, re.M)), 3, "queues")
    same(len(re.findall(r"^ +context \S+ ", text, re.M)), 2, "contexts")


main(globals())
