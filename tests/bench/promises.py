#!/usr/bin/env python3
"""Prints the numbers that the project promises, each against the bare thing or its competitor in the same run.

    tests/bench/promises.py [BUILD] [--only PART,...] [--iterations N] [--seconds S] [--rounds R] [--intercept LIB]
                            [--scale F]

Parts: calls (what an OpenCL call, a malloc+free pair, a timed command cost, heaptrack beside it), programs (what
tracing costs whole programs: medians of R paired runs, each with a main loop of S seconds or more), optimizer (what
goptimize adds to calls, what its pool costs, what whole programs gain), remote (what it adds to calls of local
devices beside remote ones), size (a trace after 10^3 and after N iterations), memory (programs that do little but
allocate, heaptrack beside them: R rounds of F times the promised work; promises_memory.py), usm (unified shared memory of
a device elsewhere, beside its buffers; promises_usm.py). All of them take some minutes.
BUILD: build/release by default. LIB: the libOpenCL.so.1 of the Intercept Layer for OpenCL Applications, measured beside us
when given.
Ends with one table: promise, measured, PASS or MISS. Run it on a quiet machine.
"""
import argparse
import ctypes.util
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from own_proxy import OwnProxy
from promised import any_missed, loop_seconds, print_table, promise, run
from promises_memory import memory
from promises_usm import usm

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {  # arguments, the option that says how often, and how often at least
    "app_vadd": (["--elements", "1000000"], "--iterations", 60),
    "app_sgemm": ([], "--iterations", 5),
    "app_transpose": ([], "--iterations", 50),
    "app_nbody": ([], "--steps", 60),
}
PAGE = 4096

# --- calls

def overhead(build, cwd, *launcher, parts=(), **more):
    text = run(*launcher, build / "tests" / "call_overhead", *parts, cwd=cwd, **more).stdout
    return json.loads(text[text.index("{"):text.rindex("}") + 1])  # other tools talk on stdout too


def print_overhead(title, rows):
    print(f"\n{title}")
    print(f"  {'':32}{'bare ns':>9}{'ours ns':>9}{'added ns':>10}{'sustained':>11}")
    for name, row in rows.items():
        print(f"  {name:32}{row['bare_ns']:9.1f}{row['hooked_ns']:9.1f}{row['added_ns']:10.1f}"
              f"{row['sustained_added_ns']:11.1f}", flush=True)
    return rows


def real_loader():
    """The path of the loader that a program gets without us."""
    name = ctypes.util.find_library("OpenCL")
    found = re.search(rf"{re.escape(name or 'libOpenCL.so.1')} .*=> (\S+)", run("ldconfig", "-p", cwd="/").stdout)
    return found[1] if found else None


def beside_intercept(build, cwd, library, loader, idle, recorded):
    """The same call through the Intercept Layer: doing nothing, as Chrome trace, and with its arguments as text."""
    def measure(title, **controls):
        rows = overhead(build, cwd, parts=["calls"], GTRACE_OPENCL_LIBRARY=loader, CLI_OpenCLFileName=loader,
                        LD_PRELOAD=library, CLI_DumpDir=cwd, CLI_SuppressLogging="1", **controls)
        return print_overhead(f"Intercept Layer, {title}", rows)["opencl_call"]
    passive = measure("nothing switched on")
    chrome = measure("ChromeCallLogging (no arguments)", CLI_ChromeCallLogging="1")
    text = measure("CallLogging to a file (with arguments)", CLI_CallLogging="1", CLI_LogToFile="1")
    for what, theirs, ours in (("loaded, recording off", passive, idle), ("calls without arguments", chrome, recorded),
                               ("calls with arguments", text, recorded)):
        promise(f"Intercept Layer / ours, {what}", "at least 1",
                f"{theirs['added_ns']:.0f} / {ours['added_ns']:.0f} ns ({theirs['sustained_added_ns']:.0f} /"
                f" {ours['sustained_added_ns']:.0f} without a pause)", theirs["added_ns"] >= ours["added_ns"])


def calls(build, cwd, intercept):
    gtrace = [build / "bin" / "gtrace", "run", "-o", "calls.db"]
    print_overhead("Nothing injected (the method's own error)", overhead(build, cwd))
    loader = real_loader()
    if loader:
        idle = print_overhead("Library loaded, recording off",
                              overhead(build, cwd, parts=["calls", "malloc"], GTRACE_OPENCL_LIBRARY=loader,
                                       LD_PRELOAD=str(build / "lib" / "gtrace" / "trace" / "libOpenCL.so.1")))
        added = idle["opencl_call"]["added_ns"]
        promise("OpenCL call, recording off", "at most 6 ns", f"{added:+.1f} ns", added <= 6)
    traced = print_overhead("gtrace run", overhead(build, cwd, *gtrace, "--"))
    off = print_overhead("gtrace run --timing off",
                         overhead(build, cwd, *gtrace, "--timing", "off", "--", parts=["commands"]))
    call, pair = traced["opencl_call"], traced["malloc_free_pair"]
    promise("OpenCL call recorded", "at most 150 ns", f"{call['added_ns']:+.0f} ns", call["added_ns"] <= 150)
    promise("malloc+free recorded", "at most 60 ns a pair", f"{pair['added_ns']:+.0f} ns", pair["added_ns"] <= 60)
    for name, what in (("timed_launch", "launch timed"), ("timed_write", "blocking 4 KiB write timed")):
        if name in traced:
            added = traced[name]["added_ns"]
            without = off[name]["added_ns"]
            promise(what, "at most 2 us a command", f"{added / 1000:+.2f} us ({without / 1000:+.2f} with --timing off)",
                    added <= 2000)
    one, both = (traced[f"malloc_free_pair_{threads}"]["added_ns"] for threads in ("1_of_2_threads", "2_threads"))
    promise("malloc+free in 2 threads at once", "at most 150 ns a pair: each call reads the clock",
            f"{both:+.0f} ns a pair; {one:+.0f} where only one of them calls", both <= 150)
    sustained = call["sustained_added_ns"]
    promise("a program that does nothing but call, recorded", "5 million calls a second: at most 200 ns each",
            f"{sustained:+.0f} ns", sustained <= 200)
    if intercept:
        beside_intercept(build, cwd, intercept, loader, idle["opencl_call"], call)
    if not shutil.which("heaptrack"):
        print("\n  heaptrack is not installed (apt-get install heaptrack): not compared")
        return
    other = print_overhead("heaptrack", overhead(build, cwd, "heaptrack", "--raw", "-o", "h", parts=["malloc"]))
    for key, how in (("added_ns", "bursts"), ("sustained_added_ns", "without a pause")):
        theirs, ours = other["malloc_free_pair"][key], pair[key]
        text = f"{theirs:.0f} / {ours:.0f} ns = {theirs / max(ours, 1):.1f}"
        if how == "bursts":
            promise("heaptrack's added time / ours", "at least 10", text, theirs >= 10 * ours)
        else:
            print(f"  the same {how}: {text}")


# --- programs

def paired(program, launcher, cwd, rounds):
    """Ratios with / without the launcher, taken alternately."""
    pairs, native = [], []
    for i in range(rounds):
        runs = {}
        for with_it in ((False, True) if i % 2 else (True, False)):
            runs[with_it] = loop_seconds(*(launcher if with_it else []), *program, cwd=cwd)
        native.append(runs[False])
        pairs.append(runs[True] / runs[False])
    return pairs, statistics.median(native)


def own_program(build, cwd, name, seconds):
    """The command of one of our programs, with so many iterations that its main loop takes `seconds` here."""
    arguments, option, count = PROGRAMS[name]
    command = [build / "bin" / "apps" / name, *arguments, option]
    while (took := loop_seconds(*command, count, cwd=cwd)) < 0.8 * seconds:
        count = int(count * min(10, 1.1 * seconds / max(took, 0.001))) + 1
    return [*command, count]


def all_programs(build, cwd, seconds):
    for name in PROGRAMS:
        yield name, own_program(build, cwd, name, seconds)
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import pyopencl"], capture_output=True).returncode == 0:
        yield "pyopencl", [python, HERE / "pyopencl_loop.py"]


def interval(pairs):
    """The median of paired ratios, and where it lies with 95 % confidence: from the order statistics, no model."""
    ordered, n = sorted(pairs), len(pairs)
    tail, k = 0.5 ** n, 0
    while k < (n - 1) // 2 and tail + math.comb(n, k + 1) * 0.5 ** n <= 0.025:
        k += 1
        tail += math.comb(n, k) * 0.5 ** n
    return statistics.median(ordered), ordered[k], ordered[n - 1 - k]


def programs(build, cwd, seconds, rounds):
    print(f"\nWhole programs, main loop, traced / native ({rounds} pairs: median [95 % interval of the median])")
    launcher = [build / "bin" / "gtrace", "run", "-o", "t.db", "--"]
    for name, program in all_programs(build, cwd, seconds):
        pairs, native = paired(program, launcher, cwd, rounds)
        middle, low, high = interval(pairs)
        promise(f"{name}, traced", "at most 2 %",
                f"{100 * (middle - 1):+.1f} % [{100 * (low - 1):+.1f} to {100 * (high - 1):+.1f}] of {native:.3f} s",
                middle <= 1.02)


# --- optimizer and remote

def calls_under(rows, whom):
    for name, what, calls_each in (("opencl_call", "clSetKernelArg", 1), ("event_info", "clGetEventInfo", 1),
                                   ("retain_release_pair", "clRetainMemObject, clReleaseMemObject", 2),
                                   ("create_release_pair", "clCreateBuffer, clReleaseMemObject", 2)):
        added = rows[name]["added_ns"] / calls_each
        promise(f"{what}, {whom}", "at most 15 ns a call", f"{added:+.1f} ns", added <= 15)


def remote(build, cwd):
    with OwnProxy(build, cwd) as proxy:
        rows = print_overhead("goptimize run --remote: calls of a local device beside a remote one",
                              overhead(build, cwd, build / "bin" / "goptimize", "run", "--measure-seconds", "0",
                                       "--remote", proxy.shm, "--", parts=["calls"], **proxy.env))
    calls_under(rows, "local device beside a remote one")


def optimizer(build, cwd, seconds, rounds):
    run(sys.executable, HERE.parent / "e2e" / "make_profile.py", build / "tests" / "call_overhead", "p.gprofile",
        cwd=cwd)
    rows = print_overhead("goptimize run: the optimizer in place",
                          overhead(build, cwd, build / "bin" / "goptimize", "run", "--profile", "p.gprofile",
                                   "--force-policy", "pin", "--stage", "always", "--measure-seconds", "0", "--",
                                   parts=["calls", "malloc", "pool"]))
    calls_under(rows, "goptimize")
    added = rows["malloc_free_pair"]["added_ns"]
    promise("malloc+free of 64 bytes under goptimize", "at most 5 ns a malloc", f"{added:+.1f} ns a pair", added <= 5)
    slowest = max((row["hooked_ns"], name) for name, row in rows.items() if name.startswith("pool_"))
    promise("malloc+free from a warm pool, 4 KiB to 256 MiB", "at most 5 us at any size",
            f"{slowest[0] / 1000:.1f} us ({int(slowest[1][5:]) >> 20} MiB)", slowest[0] <= 5000)
    print(f"\nWhole programs, main loop, native / goptimize run ({rounds} pairs: median [min-max])")
    os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = str(cwd)
    run(build / "bin" / "gmicrobench", "platform", "--quick", cwd=cwd)
    for name in PROGRAMS:
        program = own_program(build, cwd, name, seconds)
        run(build / "bin" / "gtrace", "run", "-o", f"{name}.db", "--", *program, cwd=cwd)
        run(build / "bin" / "ganalyze", f"{name}.db", cwd=cwd)
        launcher = [build / "bin" / "goptimize", "run", "--report", "r.json", "--"]
        pairs, _ = paired(program, launcher, cwd, rounds)
        speedup = 1 / statistics.median(pairs)
        decision = json.loads((pathlib.Path(cwd) / "r.json").read_text())["decision"]
        promise(f"{name}, goptimize", "never below 0.98", f"{speedup:.3f} times as fast ({decision})", speedup >= 0.98)


# --- size

def size(build, cwd, iterations):
    print("\nTrace size (vector add: write, set arguments, launch, read)")
    run(build / "bin" / "apps" / "app_vadd", "--elements", "64", "--async", cwd=cwd)  # drivers keep compiled kernels
    sizes, digests = [], []
    for n in (1000, iterations):
        path = pathlib.Path(cwd) / f"n{n}.db"
        run(build / "bin" / "gtrace", "run", "-o", path, "--", build / "bin" / "apps" / "app_vadd", "--elements", "64",
            "--iterations", n, "--async", cwd=cwd)
        stats = json.loads(run(build / "bin" / "gtrace", "stats", "--json", path, cwd=cwd).stdout)["trace"]
        sizes.append(path.stat().st_size)
        digests.append(stats["digest"])
        print(f"  {n:>9} iterations: {stats['calls']:>9} calls, {stats['nodes']} nodes, {sizes[-1]} bytes, "
              f"digest {stats['digest']}")
    promise(f"trace size, {iterations} against 1000 iterations", "the same, one page more at most",
            f"{sizes[1]} and {sizes[0]} bytes", abs(sizes[1] - sizes[0]) <= PAGE and digests[0] == digests[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--only", default="calls,programs,optimizer,remote,size,memory,usm")
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--intercept")
    given = parser.parse_args()
    build = pathlib.Path(given.build).resolve()
    parts = {"calls": lambda cwd: calls(build, cwd, given.intercept),
             "programs": lambda cwd: programs(build, cwd, given.seconds, given.rounds),
             "optimizer": lambda cwd: optimizer(build, cwd, given.seconds, given.rounds),
             "remote": lambda cwd: remote(build, cwd),
             "size": lambda cwd: size(build, cwd, given.iterations),
             "memory": lambda cwd: memory(build, cwd, given.rounds, given.scale),
             "usm": lambda cwd: usm(build, cwd, given.rounds)}
    wanted = given.only.split(",")
    if unknown := [w for w in wanted if w not in parts]:
        parser.error(f"no part {unknown[0]}; there are {', '.join(parts)}")
    with tempfile.TemporaryDirectory() as cwd:
        for name in wanted:
            parts[name](cwd)
    print_table()
    return any_missed()


if __name__ == "__main__":
    sys.exit(main())
