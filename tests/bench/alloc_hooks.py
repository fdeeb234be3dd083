#!/usr/bin/env python3
"""What the allocation hooks add to a malloc+free pair, against the bare pair in the same run.

Usage: alloc_hooks.py BUILD_TESTS_INTERPOSE [LIBRARY...]   (further injected libraries to measure, by path)
"""
import os
import statistics
import subprocess
import sys

ROUNDS = 5


def measure(program, library):
    """{size: nanoseconds of one pair}"""
    env = dict(os.environ, LD_PRELOAD=library) if library else dict(os.environ)
    text = subprocess.run([program], env=env, check=True, capture_output=True, text=True).stdout
    return {int(size): float(ns) for size, ns in (line.split() for line in text.splitlines())}


def main():
    out = sys.argv[1]
    libraries = {"bare": "", "hooks, idle client": f"{out}/nothing/libOpenCL.so.1",
                 "hooks, counting client": f"{out}/counting/libOpenCL.so.1"}
    libraries.update({path: path for path in sys.argv[2:]})
    runs = {name: [] for name in libraries}
    for _ in range(ROUNDS):  # interleaved: all see the same noise
        for name, library in libraries.items():
            runs[name].append(measure(f"{out}/bin/alloc_pair", library))
    sizes = sorted(runs["bare"][0])
    median = {name: {s: statistics.median(r[s] for r in results) for s in sizes} for name, results in runs.items()}
    print("ns per malloc+free pair (median); added to the bare pair")
    print(f"{'':28}" + "".join(f"{size:>18} B" for size in sizes))
    for name, ns in median.items():
        print(f"{name[-28:]:28}" + "".join(f"{ns[s]:10.1f} {ns[s] - median['bare'][s]:+8.1f} " for s in sizes))


if __name__ == "__main__":
    main()
