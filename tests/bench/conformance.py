#!/usr/bin/env python3
"""The OpenCL conformance tests as they end natively, traced, optimized and on a remote device: the same verdicts.

    tests/bench/conformance.py BUILD CTS [--suites buffers,events] [--ways shm,tcp] [--timeout S] [--jobs N]

BUILD: build/release. CTS: the build folder of https://github.com/KhronosGroup/OpenCL-CTS for the local OpenCL
(docs/measurements/programs.md has the steps). Every test runs in a process of its own, first natively; one that ends
otherwise in another way is run again there and natively, and is reported unless it varies by itself. The device is the
first that the loader lists. Exit status 1 when a test ends otherwise.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from own_proxy import OwnProxy

# Of all formats and types; in all sizes they take hours.
IMAGES = ("cl_copy_images", "cl_fill_images", "cl_get_info", "cl_read_write_images", "kernel_image_methods",
          "samplerless_reads", "image_streams")
WAYS = ("traced", "optimized", "shm", "tcp")


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("cts", type=pathlib.Path)
    p.add_argument("--suites", help="names without test_, with commas; all that are built otherwise")
    p.add_argument("--ways", default=",".join(WAYS))
    p.add_argument("--timeout", type=float, default=120, help="seconds for a test")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--again", type=int, default=2, help="how often what differs is run again")
    p.add_argument("--json", type=pathlib.Path)
    return p.parse_args()


class Runner:
    def __init__(self, build, folder, proxy, timeout):
        self.folder, self.timeout = pathlib.Path(folder), timeout
        self.env = {**os.environ, **proxy.env}
        optimize = [build / "bin/goptimize", "run"]
        self.launchers = {
            "native": [],
            "traced": [build / "bin/gtrace", "run", "-o", "trace.db", "--"],
            "optimized": [*optimize, "--stage", "always", "--reuse", "always", "--"],
            "shm": [*optimize, "--remote", proxy.shm, "--only", "remote", "--"],
            "tcp": [*optimize, "--remote", proxy.tcp, "--only", "remote", "--"],
        }

    def verdict(self, way, program, *test):
        """pass, fail or skip as the test says; else how its process ended."""
        with tempfile.TemporaryDirectory(dir=self.folder) as here:
            results = pathlib.Path(here) / "results.json"
            env = {**self.env, "CL_CONFORMANCE_RESULTS_FILENAME": str(results)}
            process = subprocess.Popen([str(a) for a in (*self.launchers[way], program, *test)], cwd=here, env=env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                out = process.communicate(timeout=self.timeout)[0]
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                return "timeout", process.communicate()[0]
            said = json.loads(results.read_text())["results"] if results.exists() and results.stat().st_size else {}
            if process.returncode in (0, 1, 255) and len(said) == 1:
                return next(iter(said.values())), out
            # A shell's way to say a signal, as our launchers do.
            code = process.returncode if process.returncode >= 0 else 128 - process.returncode
            return f"exit {code}", out


def programs(cts, suites):
    found = {p.name.removeprefix("test_"): p for p in cts.rglob("test_*") if p.is_file() and os.access(p, os.X_OK)}
    for name in suites.split(",") if suites else sorted(found):
        if name not in found:
            sys.exit(f"conformance.py: no test_{name} in {cts}")
        yield name, found[name]


def tests_of(name, program):
    out = subprocess.run([program, "-list"], capture_output=True, text=True, timeout=60).stdout
    listed = re.findall(r"^\t(\w+)$", out, re.M)
    for test in listed:
        yield (test, "small_images") if name in IMAGES else (test,)


class Comparison:
    def __init__(self, runner, ways, again, keep):
        self.runner, self.ways, self.again, self.keep = runner, ways, again, keep

    def __call__(self, name, program, test):
        native = self.runner.verdict("native", program, *test)[0]
        ends = {"native": native}
        if native != "timeout":
            for way in self.ways:
                ends[way] = self.end(way, name, program, test, native)
        return name, test[0], ends

    def end(self, way, name, program, test, native):
        verdict, out = self.runner.verdict(way, program, *test)
        if verdict == native:
            return verdict
        here, there = {native}, {verdict}
        for _ in range(self.again):
            there.add(self.runner.verdict(way, program, *test)[0])
            here.add(self.runner.verdict("native", program, *test)[0])
            if here & there:
                return native  # it varies by itself
        (self.keep / f"{name}.{test[0]}.{way}.txt").write_bytes(out)
        return verdict


def main():
    a = arguments()
    ways = a.ways.split(",")
    counts = {way: collections.Counter() for way in ("native", *ways)}
    different, all_ends = [], {}
    keep = pathlib.Path(tempfile.mkdtemp(prefix="conformance-"))
    with tempfile.TemporaryDirectory() as folder, OwnProxy(a.build, folder) as proxy, \
            concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        compare = Comparison(Runner(a.build.resolve(), folder, proxy, a.timeout), ways, a.again, keep)
        jobs = [pool.submit(compare, name, program, test)
                for name, program in programs(a.cts, a.suites) for test in tests_of(name, program)]
        for done in concurrent.futures.as_completed(jobs):
            name, test, ends = done.result()
            all_ends[f"{name}.{test}"] = ends
            for way, end in ends.items():
                counts[way][end] += 1
                if end != ends["native"]:
                    different.append(f"{name}.{test}: {ends['native']} natively, {end} {way}")
                    print(different[-1], flush=True)
            if a.json:
                a.json.write_text(json.dumps(all_ends, indent=1, sort_keys=True))
    for way, c in counts.items():
        print(f"{way:10}", ", ".join(f"{n} {end}" for end, n in c.most_common()))
    print(f"{len(all_ends)} tests, {len(different)} end otherwise" + (f"; what they said: {keep}" if different else ""))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
