#!/usr/bin/env python3
"""When gtrace itself is killed, asked, or started several times at once.

Usage: endings_gtrace.py BUILD
"""

import pathlib
import random

from job import *  # noqa: F403
from counted import *  # noqa: F403


def ctl(started, action):
    return good(GTRACE, "ctl", "--pid", started.pid, action).text


def collector_of(started):
    return int(re.search(r"collector (\d+)", ctl(started, "status"))[1])


def finish(started, code=0):
    started.counts.demand(None)
    out, err = started.communicate(timeout=60)
    same(started.returncode, code, "exit status")
    return err.decode()


def test_gtrace_is_killed():
    """The program goes on, and its trace is whole."""
    rng = random.Random(2)
    for n in range(6):
        started = start("threads", 5000, 3, options=("-o", f"t{n}.db"))
        enough = rng.randrange(3000)
        until(lambda: sum(started.counts.begun) >= enough, "some launches")
        started.kill()
        started.communicate(timeout=60)  # the pipes end with the program
        until_written(started.pid)
        same((complete(f"t{n}.db"), sum(started.counts.done)), (15000, 15000), "launches")
        same(facts(f"t{n}.db")["recording"], "complete", "the trace")


def test_gtrace_and_the_program_are_killed():
    started = start("for_ever", 0, 2)
    until(lambda: sum(started.counts.begun) >= 1000, "1000 launches")
    started.kill()
    os.kill(started.counts.pid, signal.SIGKILL)
    started.communicate(timeout=60)
    until_written(started.pid)
    complete()


def test_the_collector_is_killed():
    """The program does not wait for it; what is left can be recovered."""
    started = start("on_demand")
    started.counts.demand(100)
    os.kill(collector_of(started), signal.SIGKILL)
    started.counts.demand(40000)  # far more than a ring holds
    err = finish(started)
    check(re.search("collector died .*signal 9.*gtrace recover", err), f"said: {err}")
    spools = spools_of(started.pid)
    same(len(spools), 1, "spools left behind")
    good(GTRACE, "recover", "-o", "rest.db", spools[0])
    check(launches("rest.db") > 0, "an empty recovery")
    same(facts("rest.db")["recording"], "recovered", "the trace")
    check(not spools[0].exists(), "the spool is still there")


def test_snapshots():
    """The trace as it is at that moment, in one file that the final trace replaces; older traces stay."""
    pathlib.Path("trace.db").write_text("older")
    started = start("on_demand")
    for steps in (50, 80):
        started.counts.demand(steps)
        same(ctl(started, "snapshot").strip(), str(pathlib.Path("trace.db").resolve()), "path")
        same((launches(), facts()["recording"]), (steps, "running"), "the snapshot")
        check("snapshot" in ctl(started, "status"), "the status does not name it")
    started.counts.demand(90)
    finish(started)
    same((launches(), facts()["recording"]), (90, "complete"), "the trace")
    same(sorted(p.name for p in pathlib.Path(".").glob("*trace*")), ["trace.1.db", "trace.db"], "traces")
    same(pathlib.Path("trace.1.db").read_text(), "older", "the older one")


def test_snapshots_come_by_themselves():
    started = start("on_demand")
    started.counts.demand(10)
    until(pathlib.Path("trace.db").exists, "a snapshot")
    same(launches(), 10, "launches")
    finish(started)


def test_a_snapshot_that_cannot_be_written():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "small").code != 0:
        raise Skip("mounting is not permitted here")
    try:
        started = start("on_demand", options=("-o", "small/trace.db"))
        started.counts.demand(10)
        one_line(run(GTRACE, "ctl", "--pid", started.pid, "snapshot"), ENVIRONMENT, "could not be written")
        same(list(pathlib.Path("small").iterdir()), [], "left on the full disk")
        started.counts.demand(20)
        err = finish(started)
        same(launches(re.findall(r"\S+\.db", err)[-1]), 20, "launches in the trace that was saved elsewhere")
    finally:
        run("umount", "small")


def test_stop_and_start():
    started = start("on_demand")
    started.counts.demand(100)
    ctl(started, "stop")
    check("paused" in ctl(started, "status"), "not said to be paused")
    started.counts.demand(300)
    ctl(started, "start")
    started.counts.demand(350)
    ctl(started, "stop")
    started.counts.demand(400)
    err = finish(started)
    same(launches(), 150, "launches while recording was on")
    check("recording was off" in err, f"said: {err}")
    same(facts()["pauses"], 2, "pauses")


def test_the_recording_ends_before_the_program():
    started = start("on_demand")
    started.counts.demand(50)
    ctl(started, "end")
    until_written(started.pid)
    same((launches(), facts()["recording"]), (50, "complete"), "the trace")
    started.counts.demand(20000)
    finish(started)
    same(launches(), 50, "launches before the end of the recording")


def test_who_looks_at_a_recording_does_not_keep_it():
    started = start("on_demand")
    started.counts.demand(50)
    collector = collector_of(started)
    os.kill(collector, signal.SIGSTOP)
    looks = subprocess.Popen([GTRACE, "ctl", "--pid", str(started.pid), "snapshot"], stdout=subprocess.DEVNULL)
    until(lambda: "gtrace-" in pathlib.Path(f"/proc/{looks.pid}/maps").read_text(), "the spool is mapped")
    os.kill(looks.pid, signal.SIGSTOP)
    os.kill(collector, signal.SIGCONT)
    err = finish(started)
    os.kill(looks.pid, signal.SIGCONT)
    looks.wait(timeout=60)
    check("still being recorded" not in err, f"said: {err}")
    same((launches(), facts()["recording"]), (50, "complete"), "the trace")


def test_objects_made_while_nobody_recorded():
    started = start("on_demand", options=("--paused",))
    started.counts.demand(100)
    ctl(started, "start")
    started.counts.demand(150)
    finish(started)
    same(launches(), 50, "launches while recording was on")
    for command in ("show", "expand", "stats"):
        good(GTRACE, command)
    run(GANALYZE, "trace.db")


def test_signals_are_the_programs():
    for number, code in ((signal.SIGUSR1, 41), (signal.SIGUSR2, 42)):
        started = start("until_told")
        until(lambda: sum(started.counts.begun) > 0, "a launch")
        started.send_signal(number)
        started.communicate(timeout=60)
        same(started.returncode, code, "exit status")


def test_signals_are_ours():
    started = start("on_demand", options=("--on-signal", "control"))
    started.counts.demand(10)
    started.send_signal(signal.SIGUSR2)
    until(lambda: "paused" in ctl(started, "status"), "the pause")
    started.counts.demand(20)
    started.send_signal(signal.SIGUSR2)
    until(lambda: "recording" in ctl(started, "status"), "its end")
    started.counts.demand(30)
    started.send_signal(signal.SIGUSR1)
    until(lambda: pathlib.Path("trace.db").exists() and launches() == 20, "the snapshot")
    finish(started)
    same(launches(), 20, "launches while recording was on")


def test_many_at_once_in_one_directory():
    running = [start("on_demand", counts=f"counts{n}") for n in range(4)]
    for n, r in enumerate(running):
        r.counts.demand(10 + n)
        same(launches(ctl(r, "snapshot").strip()), 10 + n, "the snapshot")
    for n, r in enumerate(running):
        r.counts.demand(20 + n)
    for r in running:
        r.counts.demand(None)
    for r in running:
        r.communicate(timeout=60)
    traces = list(pathlib.Path(".").glob("*.db"))
    same(sorted(launches(t) for t in traces), [20, 21, 22, 23], "launches of the traces")


def test_ctl_without_a_recording():
    one_line(run(GTRACE, "ctl", "--pid", os.getpid(), "stop"), USAGE, "no such recording")
    one_line(run(GTRACE, "ctl", "fly"), USAGE, "fly")


main(globals())
