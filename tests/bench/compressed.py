#!/usr/bin/env python3
"""What compression saves and costs: data of several kinds written and read back behind a proxy, with `--compress auto`
and without, in turns, at rates of a network (two namespaces as two hosts: root) and delays (there and back, in ms; by a
relay on the loopback address that also has the rate), and on the loopback address, where nothing may be lost.

    tests/bench/compressed.py build/release [--mib 256] [--rates 100mbit,1gbit] [--delays 0,10] [--kinds floats,random] [--rounds 3]

Prints a table: medians of the rounds in seconds, the ratio of the pairs with its interval, and what did not travel.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from hosts import Network, proxy, relayed

KINDS = "floats,weights,text,random,zeros"


def run(build, network, url, env, folder, kind, mib, compress):
    report = f"{folder}/report.json"
    command = [*network.client_at, build / "bin/goptimize", "run", "--remote", url, "--only", "remote", "--dedup", "never",
               "--compress", compress, "--report", report, "--", build / "tests/sent_and_read", kind, str(mib)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"sent_and_read ended with {done.returncode}: {done.stderr}")
    told = json.loads(pathlib.Path(report).read_text())["remote"]["compress"]
    return [float(s) for s in done.stdout.split()], [told[way] / (mib << 20) for way in ("bytes_not_sent", "bytes_not_read")]


def interval(values):
    return f"{statistics.median(values):.3f} ({min(values):.2f}–{max(values):.2f})"


def measure(build, network, link, kind, mib, rounds):
    rate, delay = link
    times, saved = {"never": [], "auto": []}, []
    with tempfile.TemporaryDirectory() as folder, proxy(build, network, folder, "0") as (near, env), \
            relayed(build, near, delay, rate) as url:
        for i in range(rounds):
            for compress in ("never", "auto") if i % 2 else ("auto", "never"):
                seconds, shares = run(build, network, url, env, folder, kind, mib, compress)
                times[compress].append(seconds)
                if compress == "auto":
                    saved.append(shares)
    for way, name in enumerate(("write", "read")):
        never, auto = ([t[way] for t in times[mode]] for mode in ("never", "auto"))
        print(f"| {rate or 'loopback'}{f', {delay:g} ms' if delay else ''} | {kind}, {name} | {statistics.median(never):.3f} | "
              f"{statistics.median(auto):.3f} | {interval([a / n for a, n in zip(auto, never)])} | "
              f"{statistics.median(s[way] for s in saved):.1%} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rates", default="100mbit,1gbit", help="as tc takes them; the loopback address is measured in any case")
    parser.add_argument("--delays", default="0")
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    print("| link | data | never, s | auto, s | auto / never | not sent |\n|---|---|---|---|---|---|")
    links = [(rate, float(delay)) for rate in filter(None, a.rates.split(",")) for delay in a.delays.split(",")]
    for rate, delay in [*links, ("", 0)]:
        with Network("" if delay else rate) as network:
            for kind in a.kinds.split(","):
                measure(a.build.resolve(), network, (rate, delay), kind, a.mib, a.rounds)


main()
