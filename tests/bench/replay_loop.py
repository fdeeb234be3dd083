#!/usr/bin/env python3
"""A launch-bound loop's replay beside the loop itself.

    tests/bench/replay_loop.py BUILD [--launches N] [--waits each|thousands] [--rounds R] [--remote URL]

BUILD: build/release, with the targets gtrace, gt_trace and launches. The program runs with N launches and with N / 10, and
so do the replays of their recordings, in turns; the difference of the two is nine tenths of the loop without the start of
either process. Told: the median of the rounds' ratios replay / program and its 95 % interval (ratios.py), of the loop and
of whole processes. Each replay compares its result with the recorded one. Exit status: 0; 1 a run failed.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from ratios import paired

LIMIT = 1.05  # of the loop


def seconds(*command):
    started = time.monotonic()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    taken = time.monotonic() - started
    if done.returncode != 0:
        sys.exit(f"replay_loop.py: {command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--launches", type=int, default=200_000, help="of the longer run (200000)")
    parser.add_argument("--waits", choices=("each", "thousands"), default="each", help="clFinish after each launch (each)")
    parser.add_argument("--rounds", type=int, default=20, help="(20)")
    parser.add_argument("--remote", help="replay on the devices behind this proxy")
    options = parser.parse_args()
    build = options.build.resolve()
    gtrace, program = build / "bin" / "gtrace", build / "tests" / "launches"
    where = ["--remote", options.remote] if options.remote else []
    counts = {"long": options.launches, "short": options.launches // 10}
    with tempfile.TemporaryDirectory() as folder:
        ways = {}
        for name, count in counts.items():
            own = (program, count, options.waits)
            trace = pathlib.Path(folder) / f"{name}.db"
            seconds(gtrace, "run", "--capture", "full", "-o", trace, "--", *own)
            ways[name] = {"program": own, "replay": (gtrace, "replay", *where, trace)}
        taken = [{(name, way): seconds(*command) for name, both in ways.items() for way, command in both.items()}
                 for _ in range(options.rounds)]
    between = counts["long"] - counts["short"]
    loop = {way: [(t["long", way] - t["short", way]) / between for t in taken] for way in ("program", "replay")}
    whole = {way: [t["long", way] for t in taken] for way in ("program", "replay")}
    for what, values, unit in (("loop", loop, 1e6), ("whole", whole, 1)):
        told = {way: f"{statistics.median(v) * unit:.3f}" for way, v in values.items()}
        ratio = paired(values["replay"], values["program"])
        name = "us a launch" if what == "loop" else "s"
        print(f"{what}: program {told['program']} {name}, replay {told['replay']}: {ratio}"
              + (f" of {LIMIT}" if what == "loop" else ""), flush=True)


if __name__ == "__main__":
    main()
