#!/usr/bin/env python3
"""One buffer that the devices of many proxies read, written once by the client: hosts with a cable each to one switch
(network namespaces; root), each cable of some rate. The devices are PoCL's, all on this machine; the kernel is next to
nothing.

    tests/bench/one_for_many.py build/release [--proxies 2,8] [--mib 64] [--rate 1gbit] [--rounds 3] [--beside BUILD ...]

Prints for each number of proxies the median seconds from the write until all have read the bytes, and how many times that is
what the rate of a cable allows for them: 1 is the client's send alone. --beside: other builds, in turns with this one.
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

from hosts import bits_per_s, environment, ip, limit, on, serving


@contextlib.contextmanager
def switch(hosts, rate):
    """Names of namespaces, each with its address; all reach each other."""
    names = [f"gtrace-bench-{i}-{os.getpid()}" for i in range(hosts + 1)]
    middle = names.pop()
    try:
        for name in [*names, middle]:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        subprocess.run([*on(middle), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"], check=True)
        for i, name in enumerate(names):
            ip("link", "add", f"port{i}", "netns", middle, "type", "veth", "peer", "name", "cable0", "netns", name)
            ip("-n", middle, "address", "add", f"10.213.{i}.1/24", "dev", f"port{i}")
            ip("-n", middle, "link", "set", f"port{i}", "up")
            ip("-n", name, "address", "add", f"10.213.{i}.2/24", "dev", "cable0")
            ip("-n", name, "link", "set", "cable0", "up")
            ip("-n", name, "route", "add", "default", "via", f"10.213.{i}.1")
            limit(middle, f"port{i}", rate)
            limit(name, "cable0", rate)
        yield [(name, f"10.213.{i}.2") for i, name in enumerate(names)]
    finally:
        for name in [*names, middle]:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def seconds(build, program, client, urls, folder, token, mib):
    env = environment(f"{folder}/client", GTRACE_TOKEN_FILE=token)
    report = f"{folder}/report.json"
    # The first round makes connections and builds.
    command = [*on(client), build / "bin/goptimize", "run", "--remote", ",".join(urls), "--only", "remote",
               "--dedup", "never", "--report", report, "--", program, str(mib), "2"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)
    if done.returncode or "NO" in done.stdout or "error" in done.stdout:
        sys.exit(f"one_for_many ended with {done.returncode}: {done.stderr} {done.stdout}")
    if json.loads(pathlib.Path(report).read_text())["moved"]["through_us"]["moves"]:
        sys.exit("contents went through the client: the proxies are no peers")
    return float([line for line in done.stderr.splitlines() if re.fullmatch(r"[\d.]+", line)][-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--proxies", default="2,8")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    builds = [b.resolve() for b in [options.build, *options.beside]]
    once = (options.mib << 20) * 8 / bits_per_s(options.rate)
    for count in map(int, options.proxies.split(",")):
        taken = {build: [] for build in builds}
        for _ in range(options.rounds):
            for build in builds:
                with tempfile.TemporaryDirectory() as folder, switch(count + 1, options.rate) as hosts, \
                        contextlib.ExitStack() as stack:
                    token = f"{folder}/token"
                    pathlib.Path(token).write_text("0123456789abcdef" * 4 + "\n")
                    os.chmod(token, 0o600)
                    urls = [stack.enter_context(serving(build, on(name), address, f"{folder}/{name}", GTRACE_TOKEN_FILE=token,
                                                        POCL_DEVICES="pthread"))[0] for name, address in hosts[1:]]
                    taken[build].append(seconds(build, builds[0] / "tests/one_for_many", hosts[0][0], urls, folder, token,
                                                options.mib))
        for build, values in taken.items():
            median = statistics.median(values)
            print(f"{count} proxies, {options.mib} MiB at {options.rate}: {median:.3f} s ({min(values):.3f} to "
                  f"{max(values):.3f}), {median / once:.2f} of the bytes once over a cable; {build}", flush=True)


if __name__ == "__main__":
    main()
