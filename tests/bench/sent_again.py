#!/usr/bin/env python3
"""What a program saves that sends the same bytes again: weights of random bytes, by the first run and the second behind one
proxy, and by runs that name nothing, at the rate of a network (two namespaces as two hosts: root), and on the loopback
address, where nothing may be lost.

    tests/bench/sent_again.py build/release [--mib 1024] [--rates 100mbit,1gbit] [--rounds 3] [--store 2G]

Prints a table: medians of the rounds, in seconds, and how much of the bytes was not sent.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from hosts import Network, proxy


def run(build, network, url, env, folder, mib, dedup):
    report = f"{folder}/report.json"
    command = [*network.client_at, build / "bin/goptimize", "run", "--remote", url, "--only", "remote", "--dedup", dedup,
               "--report", report, "--", build / "tests/weights", str(mib)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"weights ended with {done.returncode}: {done.stderr}")
    unsent = json.loads(pathlib.Path(report).read_text())["remote"]["dedup"]["bytes_not_sent"]
    return float(done.stdout.split()[0]), unsent / (mib << 20)


def measure(build, rate, mib, rounds, store):
    times = {"never": [], "first": [], "second": []}
    share = []
    with Network(rate) as network:
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder, proxy(build, network, folder, store) as (url, env):
                for what, dedup in (("never", "never"), ("first", "auto"), ("second", "auto")):
                    seconds, unsent = run(build, network, url, env, folder, mib, dedup)
                    times[what].append(seconds)
                share.append(unsent)
    return [statistics.median(times[what]) for what in times] + [statistics.median(share)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rates", default="100mbit,1gbit", help="as tc takes them; the loopback address is measured in any case")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", default="2G")
    a = parser.parse_args()
    print("| link | never, s | first, s | second, s | first / never | second / first | not sent by the second |")
    print("|---|---|---|---|---|---|---|")
    for rate in [*filter(None, a.rates.split(",")), ""]:
        never, first, second, unsent = measure(a.build.resolve(), rate, a.mib, a.rounds, a.store)
        print(f"| {rate or 'loopback'} | {never:.3f} | {first:.3f} | {second:.3f} | {first / never:.3f} | "
              f"{second / first:.3f} | {unsent:.1%} |", flush=True)


main()
