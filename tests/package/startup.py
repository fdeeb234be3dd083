#!/usr/bin/env python3
"""How much longer a short program takes under gtrace run and goptimize run: by turns with it alone, medians of differences.

Usage: startup.py BIN TURNS APP ARGS...       BIN: where gtrace and goptimize are. A measurement, not a test: no limit.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(command, env):
    started = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    took = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return took


def interval(values, rng):
    """95 % of the median, by bootstrap."""
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[-51]


def main(bin_dir, turns, *app):
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        cache = os.environ.get("XDG_CACHE_HOME", folder)  # of a machine that was measured before, or of none
        env = dict(os.environ, XDG_CACHE_HOME=cache, XDG_DATA_HOME=folder)
        modes = {"gtrace run": [f"{bin_dir}/gtrace", "run", "-o", f"{folder}/t.db", "--", *app],
                 "goptimize run": [f"{bin_dir}/goptimize", "run", "--", *app]}
        for command in (app, *modes.values(), *modes.values()):  # files are read, the machine is measured
            seconds(command, env)
        alone, more = [], {name: [] for name in modes}
        for _ in range(turns):
            for old in pathlib.Path(folder).glob("t*.db"):
                old.unlink()
            alone.append(seconds(app, env))
            for name, command in modes.items():
                more[name].append(seconds(command, env) - alone[-1])
    print(f"{' '.join(app)}: alone {1e3 * statistics.median(alone):.1f} ms, {turns} turns")
    for name, values in more.items():
        low, high = interval(values, rng)
        print(f"  {name}: {1e3 * statistics.median(values):+.1f} ms ({1e3 * low:.1f} to {1e3 * high:.1f})")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
