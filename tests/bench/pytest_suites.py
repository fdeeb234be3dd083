#!/usr/bin/env python3
"""A pytest suite of others as it ends natively, traced, optimized and on a remote device: the same verdicts.

    tests/bench/pytest_suites.py BUILD OUT [--modes trace,run,always,shm,tcp] [--timeout S] -- PYTHON -m pytest ARGUMENTS

BUILD: build/release. OUT: a folder for verdicts, outputs, traces and the proxy's log. Each mode is one process, which the
suite runs in as its users run it; what ends otherwise than natively is run again on its own, natively and in that mode
(--again times), and counts unless it varies by itself. The drivers are what OCL_ICD_VENDORS names; the proxy serves the
same. Exit status 1 when a test ends otherwise, or the process does.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import modes
from own_proxy import OwnProxy

HERE = pathlib.Path(__file__).resolve().parent
OURS = re.compile(r"(gtrace|goptimize|gproxy)( \w+)?: ")


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--modes", default="trace,run,shm,tcp")
    p.add_argument("--timeout", type=float, default=900, help="seconds for a run of the suite")
    p.add_argument("--again", type=int, default=2, help="how often what differs is run again")
    p.add_argument("command", nargs="+", metavar="COMMAND")
    return p.parse_args()


class Ran:
    """`verdicts`: of each test the last word on it, but that a test which failed stays so whatever its teardown says."""

    def __init__(self, status, said, out, seconds):
        self.status, self.out, self.seconds, self.verdicts = status, out, seconds, {}
        for word, test in (line.split("\t", 1) for line in said.splitlines()):
            if self.verdicts.get(test) != "failed":
                self.verdicts[test] = word

    def counts(self):
        found = ", ".join(f"{n} {word}" for word, n in collections.Counter(self.verdicts.values()).most_common())
        return f"{found}; exit status {self.status}; {self.seconds:.0f} s"


class Suite:
    def __init__(self, a, proxy):
        self.a, self.proxy = a, proxy
        self.env = {**os.environ, **proxy.env, "PYTHONDONTWRITEBYTECODE": "1",
                    "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))}

    def run(self, mode, only="", name=None):
        name = name or mode
        told, shown = self.a.out / f"{name}.verdicts", self.a.out / f"{name}.txt"
        told.unlink(missing_ok=True)
        launcher = [] if mode == modes.NATIVE else modes.launcher(mode, self.a.build, self.a.out, self.proxy)
        command = [*launcher, *self.a.command, "-p", "told_verdicts", "-p", "no:cacheprovider"]
        began = time.monotonic()
        with shown.open("wb") as out:
            env = {**self.env, "VERDICTS": str(told), "ONLY_TEST": only}
            process = subprocess.Popen([str(c) for c in command], env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = process.wait(self.a.timeout)
            except subprocess.TimeoutExpired:
                status = "timeout"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if isinstance(status, int) and status < 0:
            status = 128 - status  # as a launcher passes it on
        said = told.read_text() if told.exists() else ""
        return Ran(status, said, shown.read_text(errors="replace"), time.monotonic() - began)

    def stays_different(self, mode, test):
        """Run alone: a test that ends in one way natively and in another one in `mode`, each time."""
        here, there = set(), set()
        for _ in range(self.a.again):
            here.add(self.run(modes.NATIVE, test, "again").verdicts.get(test))
            there.add(self.run(mode, test, f"again.{mode}").verdicts.get(test))
        return not here & there


def compare(suite, mode, native):
    ran = suite.run(mode)
    print(f"{mode:8} {ran.counts()}", flush=True)
    wrong = [t for t in {**native.verdicts, **ran.verdicts} if native.verdicts.get(t) != ran.verdicts.get(t)]
    kept = 0
    for test in wrong[:20]:
        different = suite.stays_different(mode, test)
        kept += different
        print(f"  {test}: {native.verdicts.get(test)} natively, {ran.verdicts.get(test)} {mode}"
              f"{'' if different else ' (alone it does not differ)'}", flush=True)
    if len(wrong) > 20:
        print(f"  and {len(wrong) - 20} more")
    if ran.status != native.status:
        print(f"  exit status {native.status} natively, {ran.status} {mode}")
    for line in filter(OURS.match, ran.out.splitlines()):
        print(f"  said: {line}")
    return kept + max(len(wrong) - 20, 0) + (ran.status != native.status)


def main():
    a = arguments()
    a.out = a.out.resolve()
    a.build = a.build.resolve()
    a.out.mkdir(parents=True, exist_ok=True)
    with OwnProxy(a.build, a.out) as proxy:
        suite = Suite(a, proxy)
        native = suite.run(modes.NATIVE)
        print(f"{'native':8} {native.counts()}", flush=True)
        different = sum(compare(suite, mode, native) for mode in a.modes.split(","))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
