#!/usr/bin/env python3
"""Transfers by size: natively, natively from pinned pool memory, over shared memory with and without copies, over TCP.

One run: each way is measured ROUNDS times in turns, and the medians are shown, in GB/s (to the device / to the host).
Usage: zero_copy.py BUILD [LARGEST_MIB [ROUNDS]]
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from own_proxy import OwnProxy

build = pathlib.Path(sys.argv[1]).resolve()
largest = sys.argv[2] if len(sys.argv) > 2 else "256"
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
PROGRAM, GOPTIMIZE = build / "tests" / "transfers_bench", build / "bin" / "goptimize"
MAKE_PROFILE = pathlib.Path(__file__).parent.parent / "e2e" / "make_profile.py"


def measured(command, env):
    out = subprocess.run([str(c) for c in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                         text=True).stdout
    return {int(l.split()[0]): [float(x) for x in l.split()[1:]] for l in out.splitlines()}


def main():
    os.chdir(tempfile.mkdtemp())
    subprocess.run([sys.executable, MAKE_PROFILE, PROGRAM, "pool.gprofile", "transfers_each=300"], check=True)
    subprocess.run([sys.executable, MAKE_PROFILE, PROGRAM, "none.gprofile", "min_bytes=1099511627776",
                    "max_bytes=2199023255552"], check=True)
    proxy = OwnProxy(build, ".")
    env = {**os.environ, **proxy.env}
    run = [GOPTIMIZE, "run"]
    far = ["--only", "remote", "--stage", "never", "--reuse", "never", "--", PROGRAM, "-1", largest]
    pool, none = ["--profile", "pool.gprofile", "--force-policy", "pin"], ["--profile", "none.gprofile"]
    shm, tcp = ["--remote", proxy.shm], ["--remote", proxy.tcp]
    ways = {"native": [PROGRAM, "-1", largest],
            "native, pinned": [*run, *pool, "--", PROGRAM, "-1", largest],
            "shm, in place": [*run, *pool, *shm, *far],
            "shm, copied": [*run, "--force-policy", "standard", *none, *shm, *far],
            "tcp": [*run, "--force-policy", "standard", *none, *tcp, *far]}
    results = {name: [] for name in ways}
    for _ in range(rounds):
        for name, command in ways.items():
            results[name].append(measured(command, env))
    proxy.stop()
    print("| size | " + " | ".join(ways) + " | memcpy |")
    print("|---" * (len(ways) + 2) + "|")
    for size in results["native"][0]:
        cells = []
        for name in ways:
            us = [statistics.median(r[size][i] for r in results[name]) for i in (0, 1)]
            cells.append(" / ".join(f"{size / u * 1e-3:.1f}" for u in us))
        copy = statistics.median(r[size][2] for r in results["native"])
        label = f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
        print(f"| {label} | " + " | ".join(cells) + f" | {size / copy * 1e-3:.1f} |")


main()
