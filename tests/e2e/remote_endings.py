#!/usr/bin/env python3
"""Programs that end with transfers and launches under way on a remote device, over TCP and by shared memory: they end at
once, and the proxy is soon as if they had never been. And a supervisor that is stopped: who is there goes on.

Usage: remote_endings.py BUILD
"""

import contextlib
import os
import re
import signal
import subprocess

from job import *  # noqa: F403
from proxy_job import alive, descriptors, shared_memory, until
from remote_job import client, proxy, remotely, ways

TIMEOUT = 60  # seconds; nothing here depends on how fast the machine is


class Program:
    def __init__(self, p, url, *command):
        self.where = f"{command[-1]}, {url}"
        command = (GOPTIMIZE, "run", "--remote", url, "--only", "remote", "--", *map(str, command))
        self.process = subprocess.Popen(command, env={**os.environ, **client(p)}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def says(self):
        line = self.process.stdout.readline().decode()
        if not line:
            check(False, f"{self.where}: {self.process.communicate(timeout=TIMEOUT)}")
        return line

    def ends(self, code=0):
        out, err = (text.decode() for text in self.process.communicate(timeout=TIMEOUT))
        same(self.process.returncode, code, f"{self.where}: exit status, {err}")
        return out

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def serves(p):
    outcome = remotely(p, app("vadd"))
    check("PASS" in outcome.text and "remote: 1 devices" in outcome.err_text, "the next client")


def has_nothing_left(p, before):
    """Of the sessions: with their workers goes their memory."""
    until(lambda: not p.status()["sessions"], "no sessions", TIMEOUT)
    until(lambda: len(p.workers()) <= 2, "the workers are gone", TIMEOUT)  # but those that wait for somebody
    until(lambda: descriptors(p.pid) <= before + 6, "descriptors are left behind", TIMEOUT)  # 6: of a waiting worker


def test_programs_that_end_while_they_are_busy():
    with proxy() as p, contextlib.ExitStack() as stack:
        serves(p)
        until(lambda: not p.status()["sessions"], "no sessions", TIMEOUT)
        before, shared = descriptors(p.pid), shared_memory()
        start = lambda url, how: stack.enter_context(contextlib.closing(Program(p, url, tests_dir / "busy", how)))
        programs = {(how, url): start(url, how) for how in ("exec", "killed", "exit", "quick", "return") for url in ways(p)}
        pids = {key: int(program.says()) for key, program in programs.items()}
        for (how, url), program in programs.items():
            if how == "killed":
                os.kill(pids[how, url], signal.SIGKILL)
            if how != "exec":
                program.ends(128 + signal.SIGKILL if how == "killed" else 0)
        has_nothing_left(p, before)
        for url in ways(p):  # they are cat now: the session is over although the process lives
            check(alive(pids["exec", url]), f"{url}: what took the program's place")
            same(programs["exec", url].ends(), "", url)
        same(shared_memory() - shared, set(), "left in /dev/shm")
        serves(p)


def test_a_stopped_supervisor():
    with proxy() as p, contextlib.ExitStack() as stack:
        programs = [stack.enter_context(contextlib.closing(Program(p, url, tests_dir / "link_job", "count", 2)))
                    for url in ways(p)]
        for program in programs:
            same(program.says(), "begins 0\n", program.where)
        os.kill(p.pid, signal.SIGSTOP)
        try:
            for program in programs:
                n = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", program.ends(), re.M)}
                same(n["counted"], n["launched"], f"{program.where}: executed, launched")
        finally:
            os.kill(p.pid, signal.SIGCONT)
        until(lambda: not p.status()["sessions"], "no sessions", TIMEOUT)
        serves(p)


main(globals())
