#!/usr/bin/env python3
"""What each OpenCL call costs (VOCL's Table 3): natively, of a local device through goptimize, and of remote ones.

    tests/bench/each_call.py [BUILD] [--rounds R] [--quick] [--device N]

Starts a gproxy of its own on the loopback address; the remote devices are this machine's, over TCP and through shared
memory. Native and through goptimize are different processes that take turns, R of each; a cell is the median of the
rounds' medians. --device: the native device's number in `goptimize devices` (0). BUILD: build/release by default.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from own_proxy import OwnProxy

COLUMNS = ("native", "local through us", "TCP", "shared memory")


def text_of(ns):
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.1f} {unit}"
    return f"{ns:.1f} ns" if ns < 100 else f"{ns:.0f} ns"


def costs(command, cwd):
    """Of each device: nanoseconds by call."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"each_call.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    found = []
    for device in json.loads(done.stdout)["devices"]:
        if "calls" not in device:
            sys.exit(f"each_call.py: {device['name']}: {device['error']}")
        found.append({call: value and value["ns"] for call, value in device["calls"].items()})
    return found


def measure(build, cwd, rounds, options, device):
    samples = {}
    bench = [build / "bin" / "gmicrobench", "calls", "--json", *options]
    with OwnProxy(build, cwd) as proxy:
        os.environ.update(proxy.env)
        urls = (proxy.tcp, proxy.shm)
        remote = [build / "bin" / "goptimize", "run", "--remote", ",".join(urls), "--measure-seconds", "0"]
        listed = json.loads(subprocess.run([build / "bin" / "goptimize", "devices", "--json", "--remote", ",".join(urls)],
                                           cwd=cwd, capture_output=True, text=True, check=True).stdout)["devices"]
        served = len(listed) // 3
        only = ",".join(str(device + i * served) for i in range(3))
        for i in range(rounds):
            parts = [(0, [*bench, "--device", device]), (1, [*remote, "--only", only, "--", *bench])]
            for first, command in parts if i % 2 else reversed(parts):
                for column, calls in enumerate(costs(command, cwd), first):
                    for call, ns in calls.items():
                        samples.setdefault(call, [[] for _ in COLUMNS])[column] += [] if ns is None else [ns]
            print(f"round {i + 1} of {rounds}", file=sys.stderr)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cwd:
        samples = measure(pathlib.Path(given.build).resolve(), cwd, given.rounds, ["--quick"] if given.quick else [],
                          given.device)
    print(f"| call | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for call, columns in samples.items():
        print(f"| {call} | {' | '.join(text_of(statistics.median(c)) if c else '-' for c in columns)} |")


if __name__ == "__main__":
    main()
