#!/usr/bin/env python3
"""Programs that do little but allocate: they do not wait for the collector, no call is lost, and the trace stays small.

What they look like: tests/e2e/programs/alloc_*.cc. What that costs in time is measured by tests/bench/promises.py
--only memory.

Usage: memory_load.py BUILD
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
from job import *  # noqa: E402, F403
from unfolded import agree  # noqa: E402

FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}  # what a driver allocates is not what this is about
# More calls than the rings hold, so that a slow collector is waited for.
LOADS = {
    "alloc_rows": ["--rows", 200_000],
    "alloc_lists": ["--atoms", 800],
    "alloc_strings": ["--scripts", 20],
    "alloc_loop": ["--pairs", 500_000, "--random"],
}
LOGGED = {  # few enough for a log of lines
    "alloc_rows": ["--rows", 5000],
    "alloc_lists": ["--atoms", 60],
    "alloc_strings": ["--scripts", 2, "--bytes", 8000],
    "alloc_loop": ["--pairs", 10_000, "--random"],
}
MOST_WAITING = 0.01  # of the run
LEAST_CALLS = 250_000
FIXED_BYTES, BYTES_A_CALL = 256 << 10, 9  # of a trace; a loop like all others costs nothing a call


def load(name):
    outcome = traced(tests_dir / name, *LOADS[name], env=FAKE)
    same(outcome.code, 0, "exit status")
    check("PASS" in outcome.text, f"printed: {outcome.text}")
    stats = good(GTRACE, "stats", "--json").json
    check(stats["trace"]["memory_calls"] >= LEAST_CALLS, f"{stats['trace']['memory_calls']} memory calls")
    same({k: v for k, v in stats["lost"].items() if v}, {}, "lost")
    waited, wall = stats["overhead"]["wait_ns"], int(stats["facts"]["wall_ns"])
    size, irregular = pathlib.Path("trace.db").stat().st_size, name != "alloc_rows"
    bound = FIXED_BYTES + irregular * BYTES_A_CALL * stats["trace"]["memory_calls"]
    print(f"  {name}: {stats['trace']['memory_calls']} memory calls, {size} bytes of {bound}, "
          f"waited {waited / 1e9:.3f} s of {wall / 1e9:.3f}")
    check(size <= bound, f"{size} bytes, more than {bound}")
    check(waited <= MOST_WAITING * wall, f"waited {waited / 1e9:.3f} s of {wall / 1e9:.3f}")


def unfolded(name, *arguments):
    for outcome in agree(tests_dir / name, *(arguments or LOGGED[name]), name=name, more_than=5000, env=FAKE):
        same(outcome.code, 0, "exit status")


def test_rows():
    load("alloc_rows")


def test_lists():
    load("alloc_lists")


def test_strings():
    load("alloc_strings")


def test_loop():
    load("alloc_loop")


def test_unfolded_rows():
    unfolded("alloc_rows")


def test_unfolded_lists():
    unfolded("alloc_lists")


def test_unfolded_strings():
    unfolded("alloc_strings")


def test_unfolded_loop():
    unfolded("alloc_loop")


def test_unfolded_repeats():
    unfolded("alloc_loop", "--pairs", 10_000)  # each pair is like the one before: they are counted only


def counted(title, *command, at_least):
    """Calls that repeat take no records, though others record, too."""
    outcome = traced(*command, env=FAKE)
    same(outcome.code, 0, "exit status")
    stats = good(GTRACE, "stats", "--json").json
    helpers = stats["lost"].pop("memory_calls_of_helpers")  # processes that know no OpenCL have no calls in the trace
    calls, records = stats["trace"]["memory_calls"] + helpers, stats["facts"]["records"]
    print(f"  {title}: {calls} memory calls, {records} records")
    check(calls >= at_least, f"{calls} memory calls, at least {at_least} were made")
    check(records < calls / 10, f"{records} records of {calls} calls")
    same({k: v for k, v in stats["lost"].items() if v}, {}, "lost")


def test_a_script_and_its_program():
    loop = f"{tests_dir / 'alloc_loop'} --pairs 500000"
    counted("a script", "sh", "-c", f"{loop}; {loop}; true", at_least=2_000_000)


def test_a_thread_beside_the_loop():
    counted("a thread beside it", tests_dir / "alloc_loop", "--pairs", 3_000_000, "--helper", at_least=6_000_000)


def test_children_of_the_loop():
    counted("children", tests_dir / "alloc_loop", "--pairs", 1_000_000, "--children", 20,
            at_least=2 * (1_000_000 + 20 * 1000))


def test_a_large_trace_is_explained():
    command = [tests_dir / "alloc_loop", "--pairs", 8_000_000, "--random", "--size", 1000]
    said = traced(*command, env=FAKE).err_text
    size = pathlib.Path("trace.db").stat().st_size
    check(size > 32 << 20, f"only {size} bytes")
    same(len(re.findall(r"trace.db takes [0-9.]+ MiB, [0-9.]+% of it memory calls.*--no-memory-detail, --max-size", said)), 1,
         f"lines about it: {said}")
    said = run(GTRACE, "run", "--no-memory-detail", "-o", "small.db", "--", *command, env=FAKE).err_text
    check(" takes " not in said, f"lines about a small trace: {said}")


def test_kept_records():
    bench = tests_dir / "collect_bench"
    if not bench.exists():
        raise Skip("collect_bench is not built")
    command = [tests_dir / "alloc_strings", "--scripts", "5"]
    good(bench, "--keep", "records", "--", *command, env=FAKE)
    measured = good(bench, "--records", "records").text
    traced(*command, env=FAKE)
    facts = good(GTRACE, "stats", "--json").json["facts"]
    check(measured.startswith(f"{facts['calls']} OpenCL calls, {facts['memory_calls']} memory calls: "), measured)
    check("made no sense" not in measured, measured)
    one_line(run(bench, "--records", "trace.db"), USAGE, "not records")
    one_line(run(bench, "--records", "none"), ENVIRONMENT, "none")


def test_killed_while_calls_repeat():
    """What is counted is in shared memory: a program that is killed loses none of it."""
    command = [GTRACE, "run", "-o", "trace.db", "--", str(tests_dir / "alloc_loop"), "--seconds", "60"]
    with subprocess.Popen(command, env={**os.environ, **FAKE}, stderr=subprocess.PIPE) as tracer:
        time.sleep(1.5)  # it makes some ten million calls in that
        children = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()
        programs = [c for c in children if b"--seconds" in pathlib.Path(f"/proc/{c}/cmdline").read_bytes()]
        same(len(programs), 1, f"programs among {children}")
        os.kill(int(programs[0]), signal.SIGKILL)
        tracer.communicate(timeout=60)
    stats = good(GTRACE, "stats", "--json").json
    check(stats["trace"]["memory_calls"] > 100_000, f"{stats['trace']['memory_calls']} memory calls")
    check(stats["facts"]["records"] < stats["trace"]["memory_calls"] / 10, f"{stats['facts']['records']} records")
    same({k: v for k, v in stats["lost"].items() if v}, {}, "lost")
    check(pathlib.Path("trace.db").stat().st_size < FIXED_BYTES, "a loop takes more than its nodes")


main(globals())
