#!/usr/bin/env python3
"""`gtrace top`: its intervals add up to what the trace says; it ends with the recording; many at once, killed collectors,
readers that go away and wrong usage.

Usage: top.py BUILD
"""

from job import *  # noqa: F403
from counted import *  # noqa: F403


def top(started, *options, **more):
    return subprocess.Popen([GTRACE, "top", "--pid", str(started.pid), "--json", "--rows", "0", "--interval", "0.1", *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def finish(started):
    started.counts.demand(None)
    started.communicate(timeout=60)
    same(started.returncode, 0, "exit status of gtrace run")


def test_intervals_add_up():
    """All that the program did after the first look is in one of the lines, and the last one says that it is over."""
    started = start("on_demand")
    started.counts.demand(100)
    watching = top(started)
    lines = []
    for steps in (300, 700, 1500):
        started.counts.demand(steps)
        lines.append(json.loads(watching.stdout.readline()))
    finish(started)
    out, err = watching.communicate(timeout=60)
    same((watching.returncode, err), (0, ""), "how it ended")
    lines += [json.loads(line) for line in out.splitlines()]
    same([line["ended"] for line in lines], [False] * (len(lines) - 1) + [True], "which line is the last")
    for line in lines:
        keys(line, "version", "interval_s", "total_calls", "calls", "memory_calls", "calls_per_s", "transfers", "kernels", "places")
        check(line["interval_s"] > 0, "no interval")
        same(sum(p["calls"] for p in line["places"]), line["calls"], "calls by place")
    launched = sum(k["launches"] for line in lines for k in line["kernels"])
    called = sum(p["calls"] for line in lines for p in line["places"] if p["function"] == "clEnqueueNDRangeKernel")
    same(launched, called, "launches by kernel and by place")
    check(0 < launched <= launches(), f"{launched} launches of {launches()}")
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    same(lines[-1]["total_calls"], stats["trace"]["calls"], "calls in all")
    first = stats["trace"]["calls"] - sum(line["calls"] for line in lines)
    check(0 < first <= stats["trace"]["calls"], "what the first look saw")


def test_tables():
    started = start("on_demand")
    started.counts.demand(100)
    watching = subprocess.Popen([GTRACE, "top", "--interval", "0.2", "--pid", str(started.counts.pid)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    started.counts.demand(5000)
    time.sleep(0.5)
    finish(started)
    out, err = watching.communicate(timeout=60)
    same((watching.returncode, err), (0, ""), "how it ended")
    for word in ("OpenCL calls in all", "calls/s", "Kernels", "clEnqueueNDRangeKernel", "the recording has ended"):
        check(word in out, f"no {word!r} in {out[-800:]}")
    check("\x1b" not in out, "controls a terminal that is none")


def test_the_recording_is_ended():
    """gtrace ctl end: the program goes on, top does not."""
    started = start("on_demand")
    started.counts.demand(100)
    watching = top(started)
    started.counts.demand(200)
    good(GTRACE, "ctl", "--pid", started.pid, "end")
    out, _ = watching.communicate(timeout=60)
    same(watching.returncode, 0, "exit status")
    check(json.loads(out.splitlines()[-1])["ended"], "does not say so")
    finish(started)


def test_the_collector_is_killed():
    started = start("on_demand")
    started.counts.demand(100)
    watching = top(started)
    started.counts.demand(200)
    watching.stdout.readline()
    status = good(GTRACE, "ctl", "--pid", started.pid, "status").text
    os.kill(int(re.search(r"collector (\d+)", status)[1]), signal.SIGKILL)
    _, err = watching.communicate(timeout=60)
    check(watching.returncode in (0, ENVIRONMENT) and err.count("\n") <= 1, f"{watching.returncode}: {err}")
    finish(started)


def test_it_is_killed_and_nobody_reads():
    """Neither the recording nor the program minds."""
    started = start("on_demand")
    started.counts.demand(100)
    killed, unread = top(started), top(started)
    unread.stdout.close()
    started.counts.demand(400)
    time.sleep(0.4)
    killed.kill()
    killed.communicate()
    started.counts.demand(2000)
    unread.wait(timeout=60)
    same(unread.returncode, 0, "exit status where nobody reads")
    finish(started)
    same(launches(), started.counts.done[0], "launches in the trace")


def test_usage():
    one_line(run(GTRACE, "top", "--pid", 1), USAGE, "no such recording")
    for interval in ("0", "0.01", "-1", "nan", "1e9"):
        outcome = run(GTRACE, "top", "--interval", interval)
        same(outcome.code, USAGE, interval)
    for words in (("--rows", "-1"), ("--interval", "x"), ("file.db",)):
        same(run(GTRACE, "top", *words).code, USAGE, words)
    a, b = (start("on_demand", counts=f"counts{n}", options=("-o", f"t{n}.db")) for n in range(2))
    one_line(run(GTRACE, "top"), USAGE, str(a.pid), str(b.pid), "--pid")
    finish(a)
    finish(b)


main(globals())
