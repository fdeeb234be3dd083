#!/usr/bin/env python3
"""Threads get the same numbers, and the trace the same digest, whoever of them ran first.

Usage: thread_numbers.py BUILD
"""

import subprocess

from job import *  # noqa: F403

PROGRAM = tests_dir / "interpose" / "bin" / "thread_family"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}


def traces(count, at_once, *command):
    """Digests of `count` recordings, `at_once` of them competing for the processors at any time."""
    digests = []
    for first in range(0, count, at_once):
        files = [f"trace-{i}.db" for i in range(first, min(count, first + at_once))]
        running = [subprocess.Popen([GTRACE, "run", "-o", f, "--", *map(str, command)], env=dict(os.environ, **FAKE),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for f in files]
        for p in running:
            _, err = p.communicate(timeout=60)
            check(p.returncode == 0, f"exit status {p.returncode}: {err.decode()}")
        digests += [good(GTRACE, "digest", f).text for f in files]
    return digests


def test_same_digest_20_times():
    digests = traces(20, 5, PROGRAM, 8)
    same(len(set(digests)), 1, f"digests {set(digests)}")


def test_family_order():
    traces(1, 1, PROGRAM, 3)
    # 0: main. 1: number 0. 2: number 1. 3: its child, 101. 4: number 2. Each wrote its number + 1 buffers.
    buffers = {}
    for line in good(GTRACE, "expand", "--json", "--no-memory", "trace-0.db").text.splitlines():
        call = json.loads(line)
        if call["call"] == "clCreateBuffer":
            buffers[call["thread"]] = buffers.get(call["thread"], 0) + 1
    same(buffers, {1: 1, 2: 2, 3: 102, 4: 3}, "buffers made by each thread")


main(globals())
