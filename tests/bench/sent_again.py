#!/usr/bin/env python3
"""What a program saves that sends the same bytes again: weights of random bytes, by the first run and the second behind one
proxy, and by runs that name nothing, at the rate of a network (two namespaces as two hosts: root), and on the loopback
address, where nothing may be lost.

    tests/bench/sent_again.py build/release [--mib 1024] [--rates 100mbit,1gbit] [--rounds 3] [--store 2G]

Prints a table: medians of the rounds, in seconds, and how much of the bytes was not sent.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SERVER, CLIENT = "10.213.9.1", "10.213.9.2"


class Network:
    """Two hosts and a cable of some rate; none: this host alone."""

    def __init__(self, rate):
        self.rate, self.names = rate, [f"gtrace-bench-{who}-{os.getpid()}" for who in ("server", "client")]
        self.server_at = self.client_at = []
        self.address = "127.0.0.1"

    def __enter__(self):
        if not self.rate:
            return self
        server, client = self.names
        self.ip("netns", "add", server)
        self.ip("netns", "add", client)
        self.ip("link", "add", "cable0", "netns", server, "type", "veth", "peer", "name", "cable0", "netns", client)
        for name, address in ((server, SERVER), (client, CLIENT)):
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "address", "add", f"{address}/24", "dev", "cable0")
            self.ip("-n", name, "link", "set", "cable0", "up")
            subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", "cable0", "root", "tbf", "rate", self.rate,
                            "burst", "256kb", "latency", "100ms"], check=True)
        self.server_at, self.client_at = (["ip", "netns", "exec", name] for name in self.names)
        self.address = SERVER
        return self

    def __exit__(self, *_):
        for name in self.names if self.rate else ():
            subprocess.run(["ip", "netns", "delete", name], check=False)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def proxy(build, network, folder, store):
    env = dict(os.environ)
    for what in ("CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        env[f"XDG_{what}"] = f"{folder}/{what.lower()}"
        os.makedirs(env[f"XDG_{what}"], mode=0o700, exist_ok=True)
    command = [*network.server_at, build / "bin/gproxy", "serve", "--listen", f"tcp://{network.address}:0", "--insecure",
               "--store", store]
    with open(f"{folder}/log", "w") as log:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        lines = iter(process.stdout.readline, "")
        url = next((m[0] for m in (re.search(r"tcp://[\d.]+:\d+", line) for line in lines if "use it:" in line) if m), None)
        if not url:
            sys.exit(f"no proxy: {pathlib.Path(folder, 'log').read_text()}")
        yield url, env
    finally:
        process.terminate()
        process.wait()


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
