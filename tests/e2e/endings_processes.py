#!/usr/bin/env python3
"""Programs of several processes: each is recorded to its end, whoever ends first.

Usage: endings_processes.py BUILD
"""

import pathlib

from job import *  # noqa: F403
from counted import *  # noqa: F403


def family(way, launches_of_each):
    alone, outcome = bare(way, 100), counted(way, 100)
    same((alone.code, alone.out), (0, b""), "alone")
    same((outcome.code, outcome.out), (alone.code, alone.out), "status and output")
    complete()
    same(by_thread(), launches_of_each, "launches by process")


def test_fork():
    family("fork", [100, 300])


def test_exec():
    family("exec", [100, 100])


def test_vfork():
    family("vfork", [100, 200])


def test_posix_spawn():
    family("spawn", [100, 200])


def test_status_of_a_shell():
    outcome = traced("/bin/sh", "-c", f"{PROGRAM} counts return 40 >/dev/null; exit 7", env=FAKE)
    same(outcome.code, 7, "exit status")
    same(launches(), 40, "launches of the shell's child")


def go():
    pathlib.Path("counts.go").touch()


def test_daemon():
    """gtrace returns with the first process; the trace is complete when the last one has ended."""
    started = start("daemon", 500)
    _, err = started.communicate(timeout=60)
    same(started.returncode, 0, "exit status")
    daemon = Counts().pid
    check(re.search(r"still being recorded.*trace\.db", err.decode()), f"said: {err}")
    same((launches(), facts()["recording"]), (0, "running"), "the trace so far")
    check(f"process" in good(GTRACE, "ctl", "--pid", daemon, "status").text, "ctl does not find it")
    go()
    until(lambda: not lives(daemon), "the end of the daemon")
    until_written(started.pid)
    same((complete(), facts()["recording"]), (500, "complete"), "the whole trace")
    same(sorted(p.name for p in pathlib.Path(".").glob("trace*")), ["trace.db"], "traces")


def test_daemon_is_waited_for():
    started = start("daemon", 500, options=("--wait",))
    until(lambda: Counts().pid, "the daemon")
    go()
    _, err = started.communicate(timeout=60)
    same(started.returncode, 0, "exit status")
    check(b"500" in err or b"OpenCL calls" in err, f"said: {err}")
    same(complete(), 500, "launches")


def test_a_child_that_is_left_behind_is_killed():
    started = start("daemon", 100)
    started.communicate(timeout=60)
    os.kill(Counts().pid, signal.SIGKILL)
    until_written(started.pid)
    same((launches(), facts()["recording"]), (0, "complete"), "the trace of a daemon that did nothing")


main(globals())
