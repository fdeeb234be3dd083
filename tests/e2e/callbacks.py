#!/usr/bin/env python3
"""Callbacks are calls of their own: as many as the program counted, with what they were given, linked to the calls that
registered them; and the program does not notice.

Usage: callbacks.py BUILD
"""

import subprocess

from job import *  # noqa: F403

PROGRAM = tests_dir / "callbacks"
HERE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}
THERE = dict(HERE, FAKE_CL_CALLBACKS="thread")
POINTING = dict(HERE, FAKE_CL_NATIVE="pointer")  # a driver that gives native kernels a pointer of its own
AT_ONCE = 256  # native kernels without arguments that are recorded
POCL = {}
DRIVERS = {"fake, here": HERE, "fake, on threads": THERE, "PoCL": POCL}


def lines_of(file="trace.db"):
    return [json.loads(l) for l in good(GTRACE, "expand", "--json", file).text.splitlines()]


def callbacks_in(lines):
    return [l for l in lines if l["call"].endswith("callback") or l["call"] == "native kernel"]


def record(driver, *arguments, code=None, env=None):
    """The program's own account and the trace's lines; the program must do as it does alone."""
    env = DRIVERS[driver] if env is None else env
    bare = run(PROGRAM, *arguments, env=env)
    outcome = traced(PROGRAM, *arguments, env=env)
    same((outcome.code, outcome.out), (bare.code, bare.out), f"{driver}: status and output")
    if code is not None:
        same(outcome.code, code, f"{driver}: exit status")
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    same(stats["lost"].get("undecodable_records", 0), 0, f"{driver}: records that could not be read")
    return outcome.text.splitlines(), lines_of()


def told(lines, kind):
    return [l.split() for l in lines if l.split() and l.split()[0] == kind]


def check_links(driver, lines):
    """Every callback uses a callback object that exactly one call defined."""
    defined = [l["args"]["callback"] for l in lines if "callback" in l.get("args", {}) and l not in callbacks_in(lines)]
    same(len(set(defined)), len(defined), f"{driver}: objects defined once each")
    for c in callbacks_in(lines):
        check(c["args"].get("callback") in defined, f"{driver}: {c} is linked to no registration")


def test_events():
    for driver in DRIVERS:
        output, lines = record(driver, "events", 20)
        ours = callbacks_in(lines)
        same(len(ours), len(told(output, "event")), f"{driver}: callbacks")
        check_links(driver, lines)
        registered = [l for l in lines if l["call"] == "clSetEventCallback"]
        for i, (c, r) in enumerate(zip(ours, registered)):
            same(c["call"], "event callback", driver)
            same(c["args"]["callback"], r["args"]["callback"], f"{driver}: callback {i}'s registration")
            same(c["args"]["function"], r["args"]["pfn_notify"], f"{driver}: the program's function")
            same(c["args"]["event"], r["args"]["event"], f"{driver}: event")
            same(c["args"]["event_command_status"], 0, f"{driver}: status")
        # What a callback calls is the program's: its queries, its memory.
        of_callbacks = {c["thread"] for c in ours}
        same(len(of_callbacks), 1, f"{driver}: one stream of callbacks")
        inside = [l["call"] for l in lines if l["thread"] in of_callbacks and l["site"].startswith("callbacks+")]
        same([inside.count(f) for f in ("clGetEventInfo", "malloc", "free")], [20] * 3, f"{driver}: calls inside")
        check(of_callbacks.isdisjoint({r["thread"] for r in registered}), f"{driver}: callbacks among the calls")


def test_same_digest_wherever_they_run():
    digests = set()
    for driver, n in (("fake, here", 10), ("fake, on threads", 10), ("fake, on threads", 200), ("fake, here", 10000)):
        traced(PROGRAM, "events", n, env=DRIVERS[driver])
        digests.add(good(GTRACE, "digest", "trace.db").text)
        stats = good(GTRACE, "stats", "--json", "trace.db").json
        same(stats["trace"]["callback_calls"], n, "callbacks counted")
        check(stats["trace"]["nodes"] < 100, f"{stats['trace']['nodes']} nodes: not folded")
        calls = {f["name"]: f for f in stats["functions"]}
        same(sum(f["calls"] for k, f in calls.items() if k.startswith("cl")), stats["trace"]["calls"], "OpenCL calls")
        check(stats["callbacks"][0]["total_ns"] > 0, "callbacks take no time")
    same(len(digests), 1, f"digests: {digests}")


def test_show():
    traced(PROGRAM, "events", 100, env=THERE)
    shown = good(GTRACE, "show", "trace.db").text
    check("callbacks of thread 0" in shown and "event callback(fn" in shown, "gtrace show tells nothing of callbacks")
    check("100 callbacks" in good(GTRACE, "stats", "trace.db").text, "gtrace stats does not count them")
    good(GANALYZE, "trace.db")


def test_chain():
    for driver in DRIVERS:
        output, lines = record(driver, "chain", 15)
        same(len(callbacks_in(lines)), len(told(output, "event")), f"{driver}: callbacks")
        check_links(driver, lines)


def test_commands():
    output, lines = record("PoCL", "commands", 10)
    same(len(callbacks_in(lines)), len(told(output, "event")), "callbacks")
    check_links("PoCL", lines)


def test_builds():
    for driver in DRIVERS:
        output, lines = record(driver, "build")
        ours = [c for c in callbacks_in(lines) if c["call"] == "program callback"]
        same(len(ours), len(told(output, "program")), f"{driver}: callbacks")
        same([c["args"]["program"] for c in ours],
             [l["args"]["program"] for l in lines if l["call"] == "clBuildProgram"], f"{driver}: programs")
        check_links(driver, lines)
        errors = [c for c in callbacks_in(lines) if c["call"] == "context callback"]
        same(len(errors), len(told(output, "context")), f"{driver}: errors told to the context")
        if "fake" in driver:
            same([(c["args"]["errinfo"], c["args"]["cb"]) for c in errors], [("#error", 2)], f"{driver}: error")


def test_native_kernels():
    for driver in DRIVERS:
        output, lines = record(driver, "native", 8)
        if "cannot" in output:
            continue
        ours = callbacks_in(lines)
        same(len(ours), 9, f"{driver}: callbacks")
        same([c["args"]["cb_args"] for c in ours],
             [l["args"]["cb_args"] for l in lines if l["call"] == "clEnqueueNativeKernel"], f"{driver}: arguments")
        check_links(driver, lines)


def test_native_kernels_without_arguments():
    """They are given what the driver gives, NULL or not, also more of them at once than are recorded."""
    for driver, env in [*DRIVERS.items(), ("fake, pointing", POINTING)]:
        for n in (1, 100, 1000):
            output, lines = record(driver, "bare", n, env=env)
            if "cannot" in output:
                break
            if "fake" in driver:
                same(output[0], f"native none {int(env is not POINTING)}", f"{driver}: what is given")
            same(len(told(output, "native")), n + 1, f"{driver}: called")
            ours = callbacks_in(lines)
            same(len(ours), min(n, AT_ONCE) + 1, f"{driver}: {n} at once, recorded")
            same({c["args"]["function"] for c in ours}, {ours[0]["args"]["function"]}, f"{driver}: functions")
            check_links(driver, lines)


def test_destructors():
    for driver in DRIVERS:
        output, lines = record(driver, "destroy")
        ours = [c["call"] for c in callbacks_in(lines)]
        for kind, name in (("mem", "memory destructor callback"), ("released", "program release callback"),
                           ("destroyed", "context destructor callback")):
            same(ours.count(name), len(told(output, kind)), f"{driver}: {name}s")
        check_links(driver, lines)
        buffer = next(l["return"] for l in lines if l["call"] == "clCreateBuffer")
        same({c["args"]["memobj"] for c in callbacks_in(lines) if "memobj" in c["args"]}, {buffer}, f"{driver}: buffer")


def test_svm():
    for driver in DRIVERS:
        output, lines = record(driver, "svm")
        if "cannot" in output:
            continue
        pointers = [l["return"] + "+0" for l in lines if l["call"] == "clSVMAlloc"]
        ours = callbacks_in(lines)
        same([c["args"]["svm_pointers"] for c in ours], [pointers], f"{driver}: pointers")
        same([l["args"]["svm_pointer"] for l in lines if l["call"] == "clSVMFree"], pointers, f"{driver}: freed")
        check_links(driver, lines)


def test_refused_registrations():
    for driver in DRIVERS:
        _, lines = record(driver, "failing", 30)
        same(callbacks_in(lines), [], f"{driver}: callbacks")
        refused = [l for l in lines if l["call"] == "clSetEventCallback"]
        check(all("callback" not in l["args"] and l["return"] != 0 for l in refused), f"{driver}: {refused[0]}")


def test_jumps_out_of_a_callback():
    output, lines = record("fake, here", "jump", 12)
    ours = callbacks_in(lines)
    same(len(ours), 12, "callbacks")
    check(all(c.get("unfinished") for c in ours), f"a callback that did not return: {ours[0]}")
    check(all(l.get("unfinished") for l in lines if l["call"] == "clSetUserEventStatus"), "nor did the call around it")
    same(len([l for l in lines if l["call"] == "malloc" and l["args"].get("size") == 10]), 12, "allocations later")


def test_exit_in_a_callback():
    for driver in ("fake, here", "PoCL"):
        _, lines = record(driver, "exit", code=3)
        same([c.get("unfinished") for c in callbacks_in(lines)], [True], f"{driver}: the callback that did not return")


def test_death_in_a_callback():
    for driver in ("fake, here", "fake, on threads"):
        _, lines = record(driver, "kill", signal.SIGKILL, code=137)
        same([c.get("unfinished") for c in callbacks_in(lines)], [True], f"{driver}: the callback that did not return")


def test_callbacks_after_the_recorder_died():
    recorder = subprocess.Popen([GTRACE, "run", "-o", "trace.db", "--", str(PROGRAM), "stop", "5"],
                                env=dict(os.environ, **THERE), text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = []
    for line in recorder.stdout:
        seen.append(line)
        if line == "recorded\n":
            break
    recorder.kill()
    recorder.stdin.close()  # the program's stdin ends, too; it goes on until it looks
    rest = recorder.stdout.read()
    recorder.wait()
    after = rest.split("end of input\n")[-1].splitlines()
    same((len(after), after[-1]), (6, "done"), f"what the program did without its recorder: {after}")


main(globals())
