"""When the program, or gtrace, waits for the collector: it is said once, and Ctrl-C ends it; pressed often, any program."""

import pathlib
import subprocess
import sys

from job import *

# Allocates until it is told to stop, and counts how often that was.
PROGRAM = """
import signal, sys
told = []
signal.signal(signal.SIGINT, lambda *_: told.append(1))
print("begun", flush=True)
while not told:
    for size in range(2000): bytearray(600 + size)
print("told", len(told), flush=True)
"""


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def start():
    started = subprocess.Popen([GTRACE, "run", "-o", "trace.db", "--", sys.executable, "-c", PROGRAM],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    same(started.stdout.readline(), "begun\n", "the program's output")
    collector = next(p for p in children(started.pid)
                     if pathlib.Path(f"/proc/{p}/comm").read_text().startswith("gtrace-collect"))
    return started, collector


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, "it did not come")
        time.sleep(0.05)


def test_ctrl_c_ends_what_waits_for_a_stopped_collector():
    started, collector = start()
    try:
        os.kill(collector, signal.SIGSTOP)
        line = started.stderr.readline()
        check(re.search(rf"has waited for \d+ s .*process {collector}.*Ctrl-C", line), f"said: {line}")
        os.killpg(started.pid, signal.SIGINT)
        same(started.stdout.readline(), "told 1\n", "the program's handler")
        line = started.stderr.readline()
        check("the recording ends here" in line, f"said: {line}")
        line = started.stderr.readline()
        check(re.search(rf"waiting since .* process {collector}, to write trace.db; Ctrl-C", line), f"said: {line}")
        os.killpg(started.pid, signal.SIGINT)
        same(started.wait(timeout=10), -signal.SIGINT, "how gtrace ended")
    finally:
        os.kill(collector, signal.SIGCONT)
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
    until(pathlib.Path("trace.db").exists)
    good(GTRACE, "stats", "trace.db")


def test_two_ctrl_c_in_a_row():
    started, _ = start()
    for _ in range(2):
        os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=20)
    check(out.startswith("told "), f"printed: {out}")
    same(started.returncode, 0, "exit status")
    check("memory calls" in err, f"said: {err}")


# A handler cannot run in a program that is stuck, and may do nothing in one that is not.
DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("begun", flush=True)
while True: time.sleep(1)
"""


def test_ctrl_c_again_and_again_kills():
    started = subprocess.Popen([GTRACE, "run", "-o", "deaf.db", "--", sys.executable, "-c", DEAF],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    same(started.stdout.readline(), "begun\n", "the program's output")
    try:
        for _ in range(3):
            os.killpg(started.pid, signal.SIGINT)
            time.sleep(0.1)
        line = started.stderr.readline()
        check(re.search(r"goes on in spite of Ctrl-C; pressed 5 times within 2 s, that kills it", line), f"said: {line}")
        same(started.poll(), None, "gtrace, after three")
        until(lambda: os.killpg(started.pid, signal.SIGINT) or time.sleep(0.1) or started.poll() is not None)
        same(started.wait(), 128 + signal.SIGKILL, "exit status")
        check("gtrace: killed" in started.stderr.read(), "nothing said of the end")
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
    good(GTRACE, "stats", "deaf.db")


main(globals())
