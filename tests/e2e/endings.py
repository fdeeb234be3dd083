#!/usr/bin/env python3
"""However a program ends, its status is passed on and its trace is complete.

Usage: endings.py BUILD
"""

import pathlib
import subprocess
import sys
import time

from job import *  # noqa: F403

VADD = (app("vadd"), "--elements", 1024, "--iterations", 200)


def launches(file="trace.db"):
    stats = good(GTRACE, "stats", "--json", file).json
    return {f["name"]: f["calls"] for f in stats["functions"]}.get("clEnqueueNDRangeKernel", 0)


def ends(code, *options):
    outcome = traced(*VADD, *options)
    same(outcome.code, code, "exit status passed on")
    return outcome


def test_return_of_main():
    ends(0)
    same(launches(), 200, "launches")


def test_exit_with_a_status():
    ends(3, "--kill-at", 100, "--exit")
    same(launches(), 100, "launches before exit(3)")


def test_abort():
    ends(134, "--kill-at", 100, "--abort")
    same(launches(), 100, "launches before abort()")


def test_kill():
    ends(137, "--kill-at", 123)
    same(launches(), 123, "launches before SIGKILL")
    good(GANALYZE, "trace.db")


def test_kill_with_allocations_in_the_loop():
    ends(137, "--kill-at", 57, "--alloc-in-loop", "--buffers-in-loop")
    same(launches(), 57, "launches before SIGKILL")


def test_kill_of_a_threaded_program():
    outcome = traced(*VADD, "--threads", 4, "--kill-at", 50)
    same(outcome.code, 137, "exit status")
    check(launches() >= 50, "fewer launches than the thread that raised it made")


def test_bare_exit():
    """No destructor and no atexit function runs."""
    script = ("import ctypes, os; cl = ctypes.CDLL('libOpenCL.so.1'); n = ctypes.c_uint()\n"
              "for _ in range(300): cl.clGetPlatformIDs(0, None, ctypes.byref(n))\n"
              "os._exit(5)")
    same(traced(sys.executable, "-c", script).code, 5, "exit status")
    functions = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", "trace.db").json["functions"]}
    same(functions.get("clGetPlatformIDs"), 300, "calls before _exit")


def test_the_recorder_is_killed():
    """The program goes on; what was not taken yet can be recovered."""
    recorder = subprocess.Popen([GTRACE, "run", "--", *map(str, VADD[:1]), "--elements", "1024", "--iterations", "100000",
                                 "--async"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 30
    while not list(pathlib.Path("/dev/shm").glob(f"gtrace-{recorder.pid}-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    recorder.kill()
    out, _ = recorder.communicate(timeout=60)  # the pipe ends with the program
    check("PASS" in out, "the program did not finish well without its recorder")
    spools = [p for p in pathlib.Path("/dev/shm").glob(f"gtrace-{recorder.pid}-*")]
    same(len(spools), 1, "spools left behind")
    good(GTRACE, "recover", "-o", "rest.db", spools[0])
    check(launches("rest.db") >= 0 and not spools[0].exists(), "the recording is still there")
    good(GTRACE, "show", "rest.db")


def test_status_of_a_shell():
    same(traced("/bin/sh", "-c", f"{app('vadd')} >/dev/null 2>&1; exit 7").code, 7, "exit status")
    check(launches() == 10, "launches of the shell's child")


def test_the_recorder_is_interrupted():
    """Ctrl-C reaches both: the program dies of it, the trace is written."""
    command = [GTRACE, "run", "-o", "trace.db", "--", *map(str, VADD[:3]), "--iterations", "100000000"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(3)
    os.killpg(started.pid, signal.SIGINT)
    try:
        started.communicate(timeout=30)
    finally:
        started.kill()
    same(started.returncode, 130, "exit status")
    check(launches() > 100, "launches before the interrupt")


def test_streams_are_untouched():
    script = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d); sys.stderr.write('own words\\n')"
    data = bytes(range(256)) * 1000
    outcome = traced("/usr/bin/python3", "-c", script, input=data)
    same(outcome.out, data, "stdin through to stdout")
    check("own words" in outcome.err_text, "the program's stderr is lost")


def test_no_files_are_left():
    """A spool carries its recorder's process number: other recordings of this machine have other ones."""
    recorder = subprocess.Popen([GTRACE, "run", "--", *map(str, VADD), "--kill-at", "5"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    same(recorder.wait(timeout=60), 137, "exit status")
    left = [p for d in ("/dev/shm", "/tmp") for p in pathlib.Path(d).glob(f"gtrace-{recorder.pid}-*")]
    check(not left, f"left behind: {left}")
    same(sorted(p.name for p in pathlib.Path(".").iterdir() if not p.name.startswith(".")), ["trace.db"], "files here")


main(globals())
