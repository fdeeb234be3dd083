"""The part "memory" of promises.py: what programs pay for being traced that do little but allocate.

Each program (tests/e2e/programs/alloc_*.cc) runs by itself, under gtrace run and under heaptrack, in turns, rounds of
them; what is told are medians of the rounds. "Whole" is from the start of the command to its end, with what the tool
does after the program; "own" is the program's main loop, as it measures it itself.
"""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import time

from promised import promise, run, time_of

LOADS = {  # what each is given, how much at scale 1, and the most that a traced whole run may take of a native one
    "alloc_rows": ("--rows", 4 << 20, 1.15),
    "alloc_lists": ("--atoms", 24576, 1.5),
    "alloc_strings": ("--scripts", 2000, 2),
}
LOOPS = {"fixed": (), "random": ("--random", "--size", 1000)}
LOOP_SECONDS = 10  # at scale 1
COLLECTED = {  # million calls a second
    "memory": 20, "memory_rows": 20, "memory_random": 10, "memory_lists": 10, "memory_scripts": 10,
}
MOST_WAITING = 0.01


@dataclasses.dataclass
class Measured:
    whole_s: float
    own_s: float
    pairs: int = 0           # of alloc_loop
    pair_ns: float = 0
    waited: float = 0        # share of the run, of gtrace's
    collector_ns: float = 0  # of processor time, a memory call
    file_bytes: int = 0      # what the tool left behind

    @property
    def whole_pair_ns(self):
        return 1e9 * self.whole_s / self.pairs


class Tools:
    """The ways to run a program: native, gtrace, heaptrack where it is installed."""

    def __init__(self, build, cwd):
        self.build, self.cwd = build, pathlib.Path(cwd)
        self.names = ["native", "gtrace"] + (["heaptrack"] if shutil.which("heaptrack") else [])
        if "heaptrack" not in self.names:
            print("\n  heaptrack is not installed (apt-get install heaptrack): not compared")

    def measure(self, tool, program, arguments, before):
        launcher = {"native": [], "gtrace": [self.build / "bin" / "gtrace", "run", "-o", "left.db", "--"],
                    "heaptrack": ["heaptrack", "--raw", "-o", "left"]}[tool]
        begin = time.monotonic()
        done = run(*before, *launcher, self.build / "tests" / program, *arguments, cwd=self.cwd)
        measured = Measured(time.monotonic() - begin, time_of(done))
        if pairs := re.search(r"pairs=(\d+) pair_ns=([0-9.]+)", done.stdout):
            measured.pairs, measured.pair_ns = int(pairs[1]), float(pairs[2])
        if tool == "gtrace":
            stats = json.loads(run(launcher[0], "stats", "--json", "left.db", cwd=self.cwd).stdout)
            measured.waited = stats["overhead"]["wait_ns"] / int(stats["facts"]["wall_ns"])
            measured.collector_ns = stats["overhead"]["collector_cpu_ns"] / stats["trace"]["memory_calls"]
        for left in self.cwd.glob("left*"):
            measured.file_bytes += left.stat().st_size
            left.unlink()
        return measured

    def rounds(self, count, program, arguments, before=()):
        """{tool: [a Measured of each round]}; who begins a round changes."""
        found = {tool: [] for tool in self.names}
        for i in range(count):
            first = i % len(self.names)
            for tool in self.names[first:] + self.names[:first]:
                found[tool].append(self.measure(tool, program, arguments, before))
        return found


def median(found, tool, what):
    """Of the rounds; nothing where the tool was not run."""
    return statistics.median(getattr(m, what) for m in found[tool]) if tool in found else float("nan")


def times(found, tool, what):
    """As many times the native one, the median of the rounds' ratios."""
    ratios = [getattr(m, what) / getattr(n, what) for m, n in zip(found.get(tool, ()), found["native"])]
    return statistics.median(ratios) if ratios else float("nan")


def added_ns(found, tool):
    added = [m.pair_ns - n.pair_ns for m, n in zip(found.get(tool, ()), found["native"])]
    return statistics.median(added) if added else float("nan")


def told(found, what):
    return (f"{times(found, 'gtrace', what):.2f} times {median(found, 'native', what):.2f} s"
            f" (heaptrack {times(found, 'heaptrack', what):.2f})")


def one_load(found, name, most):
    promise(f"{name}, whole run", f"at most {most} times native", told(found, "whole_s"),
            times(found, "gtrace", "whole_s") <= most)
    waited = median(found, "gtrace", "waited")
    promise(f"{name}, waits for the collector", "less than 1 % of the run", f"{100 * waited:.1f} %",
            waited < MOST_WAITING)
    print(f"    its own time: {told(found, 'own_s')};"
          f" collector {median(found, 'gtrace', 'collector_ns'):.0f} ns a call;"
          f" trace {median(found, 'gtrace', 'file_bytes') / 1e6:.2f} MB,"
          f" heaptrack's file {median(found, 'heaptrack', 'file_bytes') / 1e6:.2f} MB", flush=True)


def one_loop(found, what, most_ns):
    promise(f"malloc+free, {what}", f"at most {most_ns} ns a pair added",
            f"{added_ns(found, 'gtrace'):+.1f} ns to {median(found, 'native', 'pair_ns'):.1f}"
            f" (heaptrack {added_ns(found, 'heaptrack'):+.1f})", added_ns(found, "gtrace") <= most_ns)
    print(f"    waits for the collector: {100 * median(found, 'gtrace', 'waited'):.1f} % of the run;"
          f" whole run, a pair: {times(found, 'gtrace', 'whole_pair_ns'):.2f} times native"
          f" (heaptrack {times(found, 'heaptrack', 'whole_pair_ns'):.2f});"
          f" collector {median(found, 'gtrace', 'collector_ns'):.0f} ns a call;"
          f" trace {median(found, 'gtrace', 'file_bytes') / 1e6:.2f} MB", flush=True)


def one_processor():
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)))]


def collector(build, cwd):
    """Its own part, alone, on one processor: collect_bench tells memory calls a second."""
    for stream, least in COLLECTED.items():
        text = run(*one_processor(), build / "tests" / "collect_bench", f"--benchmark_filter=^collect/{stream}$",
                   "--benchmark_format=json", cwd=cwd).stdout
        millions = json.loads(text)["benchmarks"][0]["items_per_second"] / 1e6
        promise(f"the collector, {stream}", f"at least {least} million calls/s", f"{millions:.2f} million",
                millions >= least)


def memory(build, cwd, rounds, scale):
    tools = Tools(build, cwd)
    print(f"\nPrograms that allocate (medians of {rounds} rounds, at {scale:g} of their size)")
    for name, (option, amount, most) in LOADS.items():
        one_load(tools.rounds(rounds, name, [option, max(2, round(amount * scale))]), name, most)
    seconds = max(1, round(LOOP_SECONDS * scale))
    print(f"\nNothing but malloc and free, {seconds} s")
    for shape, options in LOOPS.items():
        one_loop(tools.rounds(rounds, "alloc_loop", ["--seconds", seconds, *options]), shape, 25)
    print("\nThe same with one processor for everything")
    for shape, options in LOOPS.items():
        found = tools.rounds(rounds, "alloc_loop", ["--seconds", seconds, *options], one_processor())
        one_loop(found, f"{shape}, one processor", 60)
        ratio = times(found, "gtrace", "whole_pair_ns")
        promise(f"malloc+free, {shape}, one processor, whole run", "at most 1.5 times native",
                f"{ratio:.2f} times (heaptrack {times(found, 'heaptrack', 'whole_pair_ns'):.2f})", ratio <= 1.5)
    for name, (option, amount, _) in LOADS.items():
        found = tools.rounds(rounds, name, [option, max(2, round(amount * scale))], one_processor())
        print(f"  {name}, whole run: {told(found, 'whole_s')}", flush=True)
    print("\nThe collector alone")
    collector(build, cwd)
