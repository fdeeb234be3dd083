#!/usr/bin/env python3
"""The failure matrix of remote devices: what fails, by what a program is doing with the device then, by the way to it.

In every cell the program's call ends with an error within a bounded time, other devices go on, the program exits
cleanly, and the proxy (where it is what survives) serves the next client. Programs of one failure run side by side.

Usage: remote_failures.py BUILD
"""

import contextlib
import os
import re
import signal
import subprocess
import time

from job import *  # noqa: F403
from proxy_job import alive, until
from remote_job import client, proxy, remotely, ways

PHASES = ("idle", "launch", "write", "read", "map", "build")
NOT_AVAILABLE = -2
AT_ONCE, BOUNDED = 2, 12  # seconds, generously: 0.1 and 3 to 8 on a machine that does nothing else


class Relay:
    """Between a client and a proxy's port, as a process of its own: cut and slow at a line on its input."""

    def __init__(self, port):
        self.process = subprocess.Popen([str(tests_dir / "relay"), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.url = f"tcp://127.0.0.1:{int(self.process.stdout.readline())}"

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        same(self.process.stdout.readline(), "ok\n", line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Program:
    def __init__(self, p, url, phase):
        self.phase, self.where = phase, f"{phase}, {url}"
        command = (GOPTIMIZE, "run", "--stage", "always", "--remote", url, "--", str(tests_dir / "phases"), phase,
                   "together")
        # Unbuffered: communicate() does not give what readline() has taken from the pipe beyond its line.
        self.process = subprocess.Popen(command, env={**os.environ, **client(p)}, stdin=subprocess.PIPE, bufsize=0,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def expect(self, wanted):
        line = self.process.stdout.readline()
        if line != wanted:
            check(False, f"{self.where}: {line!r} {self.process.communicate(timeout=20)}")

    def begins(self):
        self.expect(b"begins 0\n")

    def starts_work(self):
        if self.phase != "idle":
            self.process.stdin.write(b"\n")

    def works(self):
        if self.phase != "idle":
            self.expect(b"works 0\n")

    def go_on(self):
        """An idle program makes its next calls."""
        if self.phase == "idle":
            self.process.stdin.write(b"\n")

    def ends(self, since, within):
        out, err = (text.decode() for text in self.process.communicate(timeout=within))
        took = time.monotonic() - since
        same(out.splitlines(), [f"lost {NOT_AVAILABLE}", "available 0", "here 0"],
             f"{self.where}: exit status {self.process.returncode}, {err}")
        same(self.process.returncode, 0, f"{self.where}: exit status, {err}")
        check(re.search(r"gtrace: \S+ is lost \(.+\): its devices are not available any more", err), f"{self.where}: {err}")
        check(took < within, f"{self.where}: {took:.1f} s")
        return took

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def build_what_all_use(p):
    """Into PoCL's cache, here and there: what each program began with compiling took most of these tests."""
    outcome = remotely(p, tests_dir / "phases", "idle", options=(), stdin=subprocess.DEVNULL)
    same((outcome.code, outcome.text), (0, "begins 0\n"), f"one by itself, {outcome.err_text}")


def at_work(p, urls, phases, stack):
    """A program for each phase on each way, where it works, or is idle."""
    build_what_all_use(p)
    programs = [stack.enter_context(contextlib.closing(Program(p, url, phase))) for url in urls for phase in phases]
    for program in programs:
        program.begins()
    for program in programs:
        program.starts_work()
    for program in programs:
        program.works()
    return programs


def cells(p, urls, fail, within, stack):
    """All phases on all ways at once; gives the longest time until a program was over."""
    programs = at_work(p, urls, PHASES, stack)
    since = time.monotonic()
    fail()
    for program in programs:
        program.go_on()
    longest = max(program.ends(since, within) for program in programs)
    print(f"  {len(programs)} programs knew and were over after {longest:.2f} s", flush=True)


def serves(p):
    outcome = remotely(p, app("vadd"))
    check("PASS" in outcome.text and "remote: 1 devices" in outcome.err_text, "the next client")


def send_to(sessions, number):
    for session in sessions:
        with contextlib.suppress(ProcessLookupError):  # over since it was told of
            os.kill(session["pid"], number)


def send_to_workers(p, number):
    send_to(p.status()["sessions"], number)


def test_killed_workers():
    with proxy() as p, contextlib.ExitStack() as stack:
        cells(p, ways(p), lambda: send_to_workers(p, signal.SIGKILL), AT_ONCE * 4, stack)
        check(alive(p.pid), "the supervisor is gone")
        serves(p)


def test_killed_supervisor():
    with proxy() as p, contextlib.ExitStack() as stack:
        cells(p, ways(p), p.process.kill, AT_ONCE * 4, stack)


def test_killed_altogether():
    """Its port refuses then: gone, not cut, and nobody waits for it."""
    def kill():
        sessions = p.status()["sessions"]
        p.process.kill()
        send_to(sessions, signal.SIGKILL)

    with proxy() as p, contextlib.ExitStack() as stack:
        cells(p, ways(p), kill, AT_ONCE, stack)


def test_stopped_workers():
    with proxy() as p, contextlib.ExitStack() as stack:
        cells(p, ways(p), lambda: send_to_workers(p, signal.SIGSTOP), BOUNDED, stack)
        check(alive(p.pid), "the supervisor is gone")
        serves(p)
        send_to_workers(p, signal.SIGKILL)


def test_a_program_that_is_stopped_keeps_its_session():
    """Inside a node: under a debugger, or by Ctrl-Z, while nothing is under way."""
    with proxy() as p, contextlib.closing(Program(p, ways(p)[1], "idle")) as program:
        program.begins()
        session = p.sessions(1)[0]
        pid = int(re.search(r"process (\d+)", session["peer"])[1])
        os.kill(pid, signal.SIGSTOP)
        time.sleep(6)
        os.kill(pid, signal.SIGCONT)
        program.go_on()
        until(lambda: p.status()["sessions"][0]["launches"] > session["launches"], "it goes on")


def test_both_ends_are_stopped():
    """A machine that sleeps, a debugger at each end: for longer than any of a link's times. Whoever goes on first waits
    for the other as if it had just been heard."""
    with proxy() as p, contextlib.ExitStack() as stack:
        programs = at_work(p, ways(p), ("idle", "launch"), stack)
        sessions = p.sessions(len(programs))

        def programs_get(number):
            for program in programs:
                os.killpg(program.process.pid, number)

        def proxy_gets(number):
            send_to(sessions, number)
            os.kill(p.pid, number)

        def launches():
            return {s["pid"]: s["launches"] for s in p.status()["sessions"]}

        stack.callback(proxy_gets, signal.SIGCONT)
        stack.callback(programs_get, signal.SIGCONT)
        for order in ((programs_get, proxy_gets), (proxy_gets, programs_get)):
            programs_get(signal.SIGSTOP)
            proxy_gets(signal.SIGSTOP)
            time.sleep(9)
            for go_on in order:
                go_on(signal.SIGCONT)
                time.sleep(0.5)
            before = launches()
            same(sorted(before), sorted(s["pid"] for s in sessions), "sessions")
            working = len(programs) // 2  # the others are idle
            until(lambda: sum(n > before.get(pid, n) for pid, n in launches().items()) == working, "they go on")
            time.sleep(4)  # dead_ms, and more
            same(sorted(launches()), sorted(before), "sessions, later")
        before = launches()
        for program in programs:
            program.go_on()
        until(lambda: all(launches()[pid] > n for pid, n in before.items()), "the idle ones, too")
        same([program.process.poll() for program in programs], [None] * len(programs), "programs that have ended")


def test_cut():
    for how in ("cut", "swallow"):
        with proxy() as p, contextlib.closing(Relay(p.port)) as relay, contextlib.ExitStack() as stack:
            cells(p, [relay.url], lambda: relay.say(how), BOUNDED, stack)
            relay.say("heal")
            serves(p)
            until(lambda: not p.status()["sessions"], "the proxy gave up the sessions")


def test_slow():
    """20 ms there, 20 ms back, 20 MB/s: nothing is given up."""
    with proxy() as p, contextlib.closing(Relay(p.port)) as relay:
        relay.say("delay 20000")
        relay.say("rate 20000000")
        outcome = remotely(p, app("sgemm"), "--size", 64, url=relay.url)
        check("PASS" in outcome.text and "remote: 1 devices" in outcome.err_text, outcome.err_text)


if __name__ == "__main__":
    ONLY = arguments[0] if arguments else "test_"
    main({n: f for n, f in globals().items() if n.startswith(ONLY)})
