#!/usr/bin/env python3
"""Runs a test once more if it fails: for those that cmake/RetriedTests.cmake names. What the first run said is added to a
file, for ctest shows nothing of tests that pass in the end.

Usage: once_more.py FILE NAME COMMAND...      Exit status: of the last run.
"""

import subprocess
import sys

SKIPPED = 77


def run(command):
    """The status as a shell would give it, and the output, which is shown as it comes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    status = process.wait()
    return status if status >= 0 else 128 - status, "".join(lines)


if __name__ == "__main__":
    record, name, *command = sys.argv[1:]
    status, text = run(command)
    if status not in (0, SKIPPED):
        with open(record, "a") as out:
            out.write(f"{name} failed with status {status} and was run once more (cmake/RetriedTests.cmake):\n{text}\n")
        print(f"status {status}: once more", flush=True)
        status, _ = run(command)
    sys.exit(status)
