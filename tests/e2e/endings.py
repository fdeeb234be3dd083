#!/usr/bin/env python3
"""However a program ends, its status is passed on and its trace is complete.

Usage: endings.py BUILD
"""

import pathlib
import random
import subprocess
import sys

from job import *  # noqa: F403
from counted import *  # noqa: F403
from memory_cgroup import memory_cgroup

VADD = (app("vadd"), "--elements", 1024, "--iterations", 200)


def ends(way, *numbers, code=0):
    """The same status and output as alone, and every launch in the trace."""
    alone = bare(way, *numbers)
    outcome = counted(way, *numbers)
    same(alone.code, code, "exit status alone")
    same((outcome.code, outcome.out), (alone.code, alone.out), "status and output under gtrace")
    check("trace.db" in outcome.err_text, "the trace's path is not said")
    check(sum(Counts().done) >= 100, "the program did nothing")
    return complete()


def test_return_of_main():
    same(ends("return", 300), 300, "launches")


def test_exit():
    same(ends("exit", 300, code=3), 300, "launches")


def test_quick_exit():
    same(ends("quick_exit", 300, code=4), 300, "launches")


def test_bare_exit():
    same(ends("_exit", 300, code=5), 300, "launches")


def test_abort():
    same(ends("abort", 300, code=134), 300, "launches")


def test_segmentation_fault():
    same(ends("segv", 300, code=139), 300, "launches")


def test_kill():
    same(ends("kill", 300, code=137), 300, "launches")


def test_no_memory_left():
    ends("no_memory", 300, code=134)


def test_out_of_memory_killer():
    """In a group with its tracer, as in a container: the kernel kills the program, the largest of them."""
    with memory_cgroup(256 << 20) as enter:
        outcome = counted("eat_memory", preexec_fn=enter)
        same(outcome.code, 137, "exit status")
        check("trace.db" in outcome.err_text, "the trace's path is not said")
        check(complete() > 10, "the program did nothing")


def test_calls_after_main():
    same(ends("atexit", 200), 400, "launches, half of them in an atexit function")
    same(ends("destructor", 200), 400, "launches, half of them in a destructor")


def test_many_threads():
    same(ends("threads", 20, 64), 64 * 20, "launches")
    same(by_thread(), [20] * 64, "launches by thread")


def test_exit_in_the_middle_of_other_threads_calls():
    alone, outcome = bare("exit_with_threads", 200, 4), counted("exit_with_threads", 200, 4)
    same((outcome.code, outcome.out), (alone.code, alone.out), "status and output")
    complete()


def test_handlers_of_its_own():
    same(ends("handlers", 50), 250, "launches between faults that it survives")


def test_all_signals_blocked():
    same(ends("all_blocked", 200), 200, "launches")


def test_library_closed_and_opened_again():
    alone, outcome = bare("dlclose", 50), counted("dlclose", 50)
    same((outcome.code, outcome.out), (alone.code, alone.out), "status and output")
    functions = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", "trace.db").json["functions"]}
    same(functions.get("clGetPlatformIDs"), 50, "calls")


def test_killed_at_any_moment():
    """Of each thread the trace has every launch that was done, and at most one more."""
    rng = random.Random(1)
    for n in range(12):
        victim = start("for_ever", 0, 3, options=("-o", f"t{n}.db"))
        enough = rng.randrange(4000)
        until(lambda: sum(victim.counts.begun) > enough, f"{enough} launches")
        os.kill(victim.counts.pid, rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)))
        _, err = victim.communicate(timeout=60)
        check(victim.returncode in (137, 143, 139), f"status {victim.returncode}")
        check(b"OpenCL calls" in err, f"said: {err}")
        complete(f"t{n}.db")
        done, found = sorted(victim.counts.done[:3]), by_thread(f"t{n}.db")
        found = [0] * (3 - len(found)) + found
        check(all(d <= f <= d + 1 for d, f in zip(done, found)), f"launches by thread: {found} in the trace, {done} done")


def test_killed_with_a_real_driver():
    outcome = traced(*VADD, "--kill-at", 57, "--alloc-in-loop", "--buffers-in-loop")
    same(outcome.code, 137, "exit status")
    same(launches(), 57, "launches before SIGKILL")
    good(GANALYZE, "trace.db")


def test_bare_exit_of_an_interpreter():
    script = ("import ctypes, os; cl = ctypes.CDLL('libOpenCL.so.1'); n = ctypes.c_uint()\n"
              "for _ in range(300): cl.clGetPlatformIDs(0, None, ctypes.byref(n))\n"
              "os._exit(5)")
    same(traced(sys.executable, "-c", script).code, 5, "exit status")
    functions = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", "trace.db").json["functions"]}
    same(functions.get("clGetPlatformIDs"), 300, "calls before _exit")


def test_interrupted_at_the_terminal():
    """Ctrl-C reaches both: the program dies of it, the trace is written."""
    command = [GTRACE, "run", "--", str(PROGRAM), "counts", "for_ever", "0", "2"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               env=dict(os.environ, **FAKE))
    until(lambda: sum(Counts().begun) > 500, "500 launches")
    os.killpg(started.pid, signal.SIGINT)
    _, err = started.communicate(timeout=60)
    same(started.returncode, 130, "exit status")
    check(pathlib.Path("trace.db").exists(), f"no trace: {err}")
    complete()


def test_streams_are_untouched():
    script = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d); sys.stderr.write('own words\\n')"
    data = bytes(range(256)) * 1000
    outcome = traced("/usr/bin/python3", "-c", script, input=data)
    same(outcome.out, data, "stdin through to stdout")
    check("own words" in outcome.err_text, "the program's stderr is lost")


def test_no_files_are_left():
    """A spool carries its gtrace's process number: other recordings of this machine have other ones."""
    recorder = start("kill", 5)
    recorder.communicate(timeout=60)
    same(recorder.returncode, 137, "exit status")
    left = [p for d in ("/dev/shm", "/tmp") for p in pathlib.Path(d).glob(f"gtrace-{recorder.pid}-*")]
    check(not left, f"left behind: {left}")
    names = sorted(p.name for p in pathlib.Path(".").iterdir() if p.name != ".data")
    same(names, ["counts", "trace.db"], "files here")


main(globals())
