#!/usr/bin/env python3
"""Many devices behind many proxies in one list: what they cost a program that uses one of them, or none.

    tests/bench/many_devices.py BUILD [--proxies N] [--each N] [--rounds R] [--idle SECONDS]

Starts N proxies on this machine, each serving PoCL with so many devices (16 and 2: 32 in one list). In turns: a small
program (app_vadd, 1024 elements once) on its own device with no proxy, one proxy, all of them in the list; the median of
the rounds is told with what all cost beyond one. Then: the share of a processor that all proxies take with nobody there,
and that they and a waiting program take together while it holds all devices and does nothing. Exit status: 0; 1 a run
failed, or a list lacks devices.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from own_proxy import OwnProxy

TICK = os.sysconf("SC_CLK_TCK")
SMALL = ("--elements", "1024", "--iterations", "1")
HOLDS = """
import sys, pyopencl as cl
devices = [d for p in cl.get_platforms() for d in p.get_devices()]
queues = [cl.CommandQueue(cl.Context([d])) for d in devices]
buffers = [cl.Buffer(q.context, cl.mem_flags.READ_WRITE, 1 << 20) for q in queues]
for q, b in zip(queues, buffers):
    cl.enqueue_fill_buffer(q, b, b"0000", 0, 1 << 20).wait()
print(len(devices), flush=True)
sys.stdin.read()
"""


def launcher(goptimize, urls):
    return [goptimize, "run", "--measure-seconds", "0", *(["--remote", ",".join(urls)] if urls else []), "--"]


def run(command, env):
    done = subprocess.run([str(c) for c in command], env={**os.environ, **env}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"many_devices.py: {command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def family(pid):
    """A process and what it started."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(p for c in children for p in family(int(c)))]


def cpu_s(roots):
    """Processor time of each process of these families."""
    taken = {}
    for pid in (p for root in roots for p in family(root)):
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        taken[pid] = (int(words[11]) + int(words[12])) / TICK
    return taken


def share(roots, seconds):
    """Of one processor; of processes that are there all the time."""
    time.sleep(2)  # sessions that have just ended are still taken down
    before, began = cpu_s(roots), time.monotonic()
    time.sleep(seconds)
    after = cpu_s(roots)
    return sum(after[p] - before[p] for p in after if p in before) / (time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--proxies", type=int, default=16)
    parser.add_argument("--each", type=int, default=2, help="devices of a proxy (2)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--idle", type=float, default=20, help="seconds of each look at idle processes (20)")
    options = parser.parse_args()
    build = options.build.resolve()
    goptimize, vadd = build / "bin" / "goptimize", build / "bin" / "apps" / "app_vadd"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as all_proxies:
        os.environ["POCL_DEVICES"] = " ".join(["pthread"] * options.each)
        proxies = [all_proxies.enter_context(OwnProxy(build, folder)) for _ in range(options.proxies)]
        del os.environ["POCL_DEVICES"]
        env, urls = proxies[0].env, [p.tcp for p in proxies]
        devices = json.loads(run([goptimize, "devices", "--json", "--remote", ",".join(urls)], env))["devices"]
        remote = sum(d["remote"] for d in devices)
        print(f"{len(urls)} proxies, {options.each} devices each: {remote} remote devices in the list", flush=True)
        if remote != len(urls) * options.each:
            sys.exit("many_devices.py: devices are lacking")
        taken = {"no proxy": [], "one": [], "all": []}
        for _ in range(options.rounds):
            for name, chosen in zip(taken, ([], urls[:1], urls)):
                began = time.monotonic()
                run([*launcher(goptimize, chosen), build / "bin/apps/app_vadd", *SMALL], env)
                taken[name].append(time.monotonic() - began)
        middle = {name: statistics.median(t) for name, t in taken.items()}
        print("a whole run: " + ", ".join(f"{name} {t:.3f} s" for name, t in middle.items())
              + f"; all take {middle['all'] - middle['one']:.3f} s more than one", flush=True)
        pids = [p.process.pid for p in proxies]
        print(f"all proxies, nobody there: {share(pids, options.idle) * 100:.2f} % of a processor", flush=True)
        holder = subprocess.Popen([*map(str, launcher(goptimize, urls)), "/usr/bin/python3", "-c", HOLDS], text=True,
                                  env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        held = holder.stdout.readline().strip()
        print(f"the same, and a program that holds {held} devices: {share([*pids, holder.pid], options.idle) * 100:.2f} %")
        holder.communicate("")
        if holder.returncode != 0:
            sys.exit(f"many_devices.py: the program that holds devices ended with {holder.returncode}")


if __name__ == "__main__":
    main()
