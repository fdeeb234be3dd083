#!/usr/bin/env python3
"""What it costs that links are looked at where they are fast: writes and reads over the loopback address, with `--dedup auto
--compress auto` and with both `never`, in turns.

    tests/bench/fast_links.py build/release [--mib 256] [--each 16] [--pairs 30] [--kind random] [--rounds 1]

Prints the median of the pairs' ratios, auto / never, with an interval that holds the true median in 95 of 100 cases, and the
median times. --rounds: of a program; its first one measures the link, the later ones do not.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from hosts import Network, proxy


def run(build, url, env, folder, a, mode):
    report = f"{folder}/report.json"
    command = [build / "bin/goptimize", "run", "--remote", url, "--only", "remote", "--dedup", mode, "--compress", mode,
               "--report", report, "--", build / "tests/sent_and_read", a.kind, str(a.mib), str(a.each), str(a.rounds)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"sent_and_read ended with {done.returncode}: {done.stderr}")
    told = json.loads(pathlib.Path(report).read_text())["remote"]
    if told["compress"]["bytes_not_sent"] or told["dedup"]["bytes_not_sent"]:
        print("something was not sent: the link is not fast", file=sys.stderr)
    return [[float(s) for s in line.split()] for line in done.stdout.splitlines()]


def interval(values):
    """By the order of the values: the median lies between these two with 95 %."""
    values, n = sorted(values), len(values)
    k = max(0, int(n / 2 - 0.98 * n ** 0.5))
    return f"{statistics.median(values):.3f} ({values[k]:.3f}–{values[n - 1 - k]:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--each", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kind", default="random")
    a = parser.parse_args()
    build, seconds = a.build.resolve(), {"never": [], "auto": []}
    with Network("") as network, tempfile.TemporaryDirectory() as folder, proxy(build, network, folder, "2G") as (url, env):
        for i in range(a.pairs):
            for mode in ("never", "auto") if i % 2 else ("auto", "never"):
                seconds[mode].append(run(build, url, env, folder, a, mode))
    print("| | never, s | auto, s | auto / never |\n|---|---|---|---|")
    for way, name in enumerate(("write", "read")):
        for which, rounds in (("first round", [0]), ("later rounds", range(1, a.rounds))):
            if not rounds:
                continue
            never, auto = ([statistics.median(run[r][way] for r in rounds) for run in seconds[m]] for m in ("never", "auto"))
            print(f"| {name}, {which} | {statistics.median(never):.4f} | {statistics.median(auto):.4f} | "
                  f"{interval([x / y for x, y in zip(auto, never)])} |", flush=True)


main()
