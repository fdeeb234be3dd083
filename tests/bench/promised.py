"""What the parts of promises.py share: how they run programs, and the table of promises."""
import os
import re
import subprocess
import sys

_results = []  # what, promise, measured, verdict


def promise(what, text, measured, kept):
    _results.append((what, text, measured, "PASS" if kept else "MISS"))
    print(f"  {what}: {measured} ({text})", flush=True)


def print_table():
    widths = [max(len(row[i]) for row in _results) for i in range(4)]
    print("\n" + "  ".join(h.ljust(w) for h, w in zip(("What", "Promise", "Measured", ""), widths)))
    for row in _results:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())


def any_missed():
    return any(row[3] == "MISS" for row in _results)


def run(*command, cwd, **more):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True,
                          env=dict(os.environ, **more))
    if done.returncode != 0:
        sys.exit(f"promises.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done


def time_of(done):
    """What a program says that its main loop took, in seconds."""
    return float(re.search(r"time_s=([0-9.]+)", done.stdout + done.stderr)[1])


def loop_seconds(*command, cwd):
    return time_of(run(*command, cwd=cwd))
