#!/usr/bin/env python3
"""Remote devices beside PoCL's: the same device here, through gproxy, and through PoCL's pocld, all on the loopback
address, one after the other in each round.

    tests/bench/beside_pocl_remote.py BUILD POCL [--rounds N]

BUILD: build/release. POCL: the build folder of a PoCL with its remote client and server (docs/measurements/remote.md has
the steps). The device is the first that the loader lists. Prints what calls cost, bandwidth by size (medians of the
rounds), and what happens when the server is killed and when it gets garbage.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from own_proxy import OwnProxy

CALLS = {"launch + clFinish": "launch + clFinish", "launch in a chain": "launch in a chain",
         "clEnqueueReadBuffer, 4 bytes, blocking": "read of 4 bytes", "clFinish, nothing to do": "clFinish, nothing to do"}
POCLD_PORT = 7777
WAIT_S = 20  # for what may never end


def until_listening(port):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    sys.exit(f"nobody listens at port {port}")


class Here:
    name = "here"

    def __init__(self, build, *_):
        self.build, self.server, self.port, self.env, self.launcher = build, None, None, {}, []

    def start(self):
        pass

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.kill()
        if self.server:
            self.server.wait()

    def run(self, *command, timeout=300):
        return subprocess.run([*self.launcher, *map(str, command)], env={**os.environ, **self.env}, timeout=timeout,
                              capture_output=True, text=True)

    def found(self, *command):
        """What gmicrobench says, or why it says nothing."""
        done = self.run(self.build / "bin/gmicrobench", *command, "--quick", "--json", "--device", 0)
        if done.returncode:
            sys.exit(f"{self.name}: gmicrobench {command[0]} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)


class Ours(Here):
    name = "gproxy, TCP"

    def __init__(self, build, _, folder):
        super().__init__(build)
        self.folder = folder

    def start(self):
        proxy = OwnProxy(self.build, self.folder)
        self.env, self.server, self.port = proxy.env, proxy.process, proxy.port
        self.launcher = [self.build / "bin/goptimize", "run", "--remote", self.url(), "--only", "remote", "--"]

    def url(self):
        return f"tcp://127.0.0.1:{self.port}"


class OursShared(Ours):
    name = "gproxy, shm"

    def url(self):
        return f"shm:{self.port}"


class Theirs(Here):
    name = "pocld, TCP"

    def __init__(self, build, pocl, folder):
        super().__init__(build)
        self.pocl, self.port = pocl, POCLD_PORT
        vendors = pathlib.Path(folder) / "vendors"
        vendors.mkdir()
        driver = f"{pocl}/lib/CL/libpocl.so"
        (vendors / "pocl_remote.icd").write_text(driver + "\n")
        # Loaders look at the folder, or at the names alone; at both, the driver would be loaded twice.
        self.loaders = [{"OCL_ICD_VENDORS": str(vendors), "OCL_ICD_FILENAMES": ""},
                        {"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": driver}]
        self.client = {"POCL_BUILDING": "1", "POCL_DEVICES": "remote", "POCL_CACHE_DIR": f"{folder}/client",
                       "POCL_REMOTE0_PARAMETERS": f"127.0.0.1:{POCLD_PORT}/0"}

    def start(self):
        self.server = subprocess.Popen([self.pocl / "pocld/pocld", "-a", "127.0.0.1", "-p", str(POCLD_PORT)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until_listening(POCLD_PORT)
        time.sleep(0.5)
        for loader in self.loaders:
            self.env = loader | self.client
            if self.run(self.build / "bin/goptimize", "devices").returncode == 0:
                return
        sys.exit(f"{self.name}: no loader finds {self.loaders[1]['OCL_ICD_FILENAMES']}")


@contextlib.contextmanager
def started(way):
    way.start()
    try:
        yield way
    finally:
        way.stop()


def call_costs(way):
    """{what: ns}"""
    calls = way.found("calls")["devices"][0]["calls"]
    return {what: calls[key]["ns"] for key, what in CALLS.items() if calls.get(key)}


def bandwidths(way, *url):
    """What gmicrobench remote gives, as {(column, direction, size): ns}; `here` is whatever the environment names."""
    out = {}
    data = way.found("remote", *url)
    columns = {way.name: data["native"]}
    for route in data["routes"] if not url else []:
        kind = "TCP" if route["url"].startswith("tcp") else "shm"
        columns |= {f"gproxy, {kind}": route["remote"], "bare socket" if kind == "TCP" else "shared copy": route["link"]}
    for column, times in columns.items():
        for direction, patterns in times.items():
            out |= {(column, direction, m["bytes"]): m["ns"] for m in patterns["window"]}
    return out


def print_table(columns, rows):
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")
    print(flush=True)


def speeds(ways, rounds):
    times = {}
    for _ in range(rounds):
        for way in ways:
            with started(way):
                for what, ns in call_costs(way).items():
                    times.setdefault((what, way.name), []).append(ns)
    def cell(what, way):
        known = times.get((what, way.name))
        return f"{statistics.median(known) / 1000:.1f} us" if known else "-"
    print_table([w.name for w in ways], [(what, [cell(what, w) for w in ways]) for what in CALLS.values()])


def bandwidth(here, ours, theirs, rounds):
    """A window of 32 transfers. Theirs takes turns with ours in one process: it is what that process finds here."""
    times = {}
    for _ in range(rounds):
        found = bandwidths(here)
        with started(ours), started(theirs):
            theirs.env |= ours.env
            found |= bandwidths(theirs, "--remote", ours.url())
        for key, ns in found.items():
            times.setdefault(key, []).append(ns)
    columns = ["here", "bare socket", "gproxy, TCP", "pocld, TCP", "shared copy", "gproxy, shm"]
    def cell(column, direction, size):
        known = times.get((column, direction, size))
        return f"{size / statistics.median(known):.2f}" if known else "-"
    rows = []
    for direction, name in (("h2d", "write"), ("d2h", "read")):
        for size in sorted({key[2] for key in times}):
            text = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
            rows.append((f"{name} {text}, GB/s", [cell(c, direction, size) for c in columns]))
    print_table(columns, rows)


def killed(way):
    """How a program that launches without a pause ends when its server is killed."""
    with started(way):
        program = subprocess.Popen([*map(str, way.launcher), str(way.build / "tests/link_job"), "count", "60"],
                                   env={**os.environ, **way.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        program.stdout.readline()
        time.sleep(1)
        way.server.kill()
        since = time.monotonic()
        try:
            _, err = program.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            program.kill()
            program.communicate()
            return f"not over after {WAIT_S} s"
        took = time.monotonic() - since
        said = [line for line in err.splitlines() if line and not line.startswith(("goptimize:", " "))]
        how = f"signal {-program.returncode}" if program.returncode < 0 else f"exit status {program.returncode}"
        return f"{took:.2f} s, {how}" + (f" ({said[-1][:60]})" if said else "")


def garbage(way):
    """Whether a server lives and serves after strangers have sent it random bytes."""
    random.seed(7)
    with started(way):
        for length in (1, 64, 4096, 1 << 20):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", way.port), 2) as stranger:
                stranger.sendall(random.randbytes(length))
        time.sleep(0.5)
        if way.server.poll() is not None:
            return f"the daemon died (status {way.server.returncode})"
        try:
            done = way.run(way.build / "tests/link_job", "count", "1", timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            return "alive; the next client hangs"
        return "serves the next client" if done.returncode == 0 else f"alive; the next client fails ({done.returncode})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("pocl", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ways = [kind(given.build, given.pocl, folder) for kind in (Here, Ours, OursShared, Theirs)]
        speeds(ways, given.rounds)
        bandwidth(ways[0], ways[1], ways[3], given.rounds)
        print_table(["gproxy", "pocld"], [(what, [test(ways[1]), test(ways[3])]) for what, test in (
            ("server killed while a program launches", killed), ("random bytes from strangers", garbage))])


if __name__ == "__main__":
    main()
