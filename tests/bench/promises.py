#!/usr/bin/env python3
"""Prints the numbers that the project promises, each against the bare thing in the same run.

    tests/bench/promises.py [BUILD] [--iterations N] [--times K]     BUILD: build/release by default

What a recorded OpenCL call and a malloc+free pair cost, what goptimize adds to a call, what tracing costs whole
programs (median of paired runs; K times their usual loop, for fast devices), how large a trace is after 10^3 and after
N (10^6) iterations. Takes some minutes.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 7
PROGRAMS = {  # arguments, the option that says how often, and how often
    "app_vadd": (["--elements", "1000000"], "--iterations", 60),
    "app_sgemm": ([], "--iterations", 5),
    "app_transpose": ([], "--iterations", 50),
    "app_nbody": ([], "--steps", 60),
}


def run(*command, cwd):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"promises.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done


def overhead(build, cwd, *launcher):
    return json.loads(run(*launcher, build / "tests" / "call_overhead", cwd=cwd).stdout)


def print_overhead(title, result):
    print(f"\n{title}")
    print(f"  {'':22}{'bare ns':>9}{'ours ns':>9}{'added ns':>10}{'sustained':>11}")
    for name, row in result.items():
        print(f"  {name:22}{row['bare_ns']:9.1f}{row['hooked_ns']:9.1f}{row['added_ns']:10.1f}"
              f"{row['sustained_added_ns']:11.1f}")


def loop_seconds(*command, cwd):
    done = run(*command, cwd=cwd)
    return float(re.search(r"time_s=([0-9.]+)", done.stdout + done.stderr)[1])


def whole_programs(build, cwd, times):
    print(f"\nWhole programs, main loop, traced / native ({ROUNDS} pairs: median [min-max])")
    gtrace = build / "bin" / "gtrace"
    for name, (arguments, option, count) in PROGRAMS.items():
        program = [build / "bin" / "apps" / name, *arguments, option, count * times]
        pairs = []
        for _ in range(ROUNDS):
            native = loop_seconds(*program, cwd=cwd)
            pairs.append(loop_seconds(gtrace, "run", "-o", "t.db", "--", *program, cwd=cwd) / native)
            os.unlink(pathlib.Path(cwd) / "t.db")
        print(f"  {name:16}{statistics.median(pairs):7.3f}  [{min(pairs):.3f}-{max(pairs):.3f}]   native {native:.3f} s")


def optimized_programs(build, cwd, times):
    """With profiles of their own; the platform is measured first. Where nothing is to be gained, the ratio is 1."""
    print(f"\nWhole programs, main loop, native / goptimize run ({ROUNDS} pairs: median [min-max])")
    os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = str(cwd)
    run(build / "bin" / "gmicrobench", "platform", "--quick", cwd=cwd)
    for name, (arguments, option, count) in PROGRAMS.items():
        program = [build / "bin" / "apps" / name, *arguments, option, count * times]
        run(build / "bin" / "gtrace", "run", "-o", f"{name}.db", "--", *program, cwd=cwd)
        run(build / "bin" / "ganalyze", f"{name}.db", cwd=cwd)
        optimizer = [build / "bin" / "goptimize", "run", "--report", "r.json", "--", *program]
        pairs = [loop_seconds(*program, cwd=cwd) / loop_seconds(*optimizer, cwd=cwd) for _ in range(ROUNDS)]
        decision = json.loads((pathlib.Path(cwd) / "r.json").read_text())["decision"]
        print(f"  {name:16}{statistics.median(pairs):7.3f}  [{min(pairs):.3f}-{max(pairs):.3f}]   {decision}")


def trace_sizes(build, cwd, iterations):
    print("\nTrace size (vector add: write, set arguments, launch, read)")
    run(build / "bin" / "apps" / "app_vadd", "--elements", "64", "--async", cwd=cwd)  # drivers keep compiled kernels
    for n in (1000, iterations):
        path = pathlib.Path(cwd) / f"n{n}.db"
        run(build / "bin" / "gtrace", "run", "-o", path, "--", build / "bin" / "apps" / "app_vadd", "--elements", "64",
            "--iterations", n, "--async", cwd=cwd)
        stats = json.loads(run(build / "bin" / "gtrace", "stats", "--json", path, cwd=cwd).stdout)["trace"]
        print(f"  {n:>9} iterations: {stats['calls']:>9} calls, {stats['nodes']} nodes, {path.stat().st_size} bytes, "
              f"digest {stats['digest']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    build = pathlib.Path(given.build).resolve()
    with tempfile.TemporaryDirectory() as cwd:
        print_overhead("Nothing injected (the method's own error)", overhead(build, cwd))
        print_overhead("gtrace run: recording", overhead(build, cwd, build / "bin" / "gtrace", "run", "--"))
        run(sys.executable, HERE.parent / "e2e" / "make_profile.py", build / "tests" / "call_overhead", "p.gprofile",
            cwd=cwd)
        print_overhead("goptimize run: the optimizer in place",
                       overhead(build, cwd, build / "bin" / "goptimize", "run", "--profile", "p.gprofile",
                                "--force-policy", "pin", "--"))
        whole_programs(build, cwd, given.times)
        optimized_programs(build, cwd, given.times)
        trace_sizes(build, cwd, given.iterations)


if __name__ == "__main__":
    main()
