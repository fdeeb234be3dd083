#!/usr/bin/env python3
"""Programs that are faster than the collector: what it does not come to waits in a file beside the trace, and not the
program. Nothing is lost by that, whoever is killed, and the trace is the same.

Usage: memory_spill.py BUILD
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
from compare import Different, compare  # noqa: E402
from job import *  # noqa: E402, F403
from memory_cgroup import memory_cgroup  # noqa: E402
from unfolded import log  # noqa: E402

FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}  # what a driver allocates is not what this is about
LOOP = str(tests_dir / "alloc_loop")
RANDOM = ["--random", "--size", "1000"]
TOO_LONG = 330  # a path for which a spool has no room
LITTLE_MEMORY = 200 << 20  # an eighth of it for records that wait, an eighth of that before any are moved
MUCH = 128 << 20  # where there is enough, this may wait
MANY_PAIRS = 12_000_000  # more than that and what is in use beside it
TWO_RINGS = 2 << 20  # that a spool has from the beginning
LITTLE = 4 << 20  # where there is little, this may: no less is moved
TAKEN = 32 << 20  # more than a spool holds of records that were taken and whose segments were not given back yet


def start(*arguments, output="trace.db", options=(), preexec_fn=None):
    """Its gtrace, and its collector."""
    started = subprocess.Popen([GTRACE, "run", *options, "-o", output, "--", LOOP, *RANDOM, *arguments],
                               env={**os.environ, **FAKE}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               preexec_fn=preexec_fn)
    return started, until(lambda: [p for p in children(started.pid) if comm(p).startswith("gtrace-collect")])[0]


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def comm(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text()


def program_of(started):
    return until(lambda: [p for p in children(started.pid) if comm(p).startswith("alloc_loop")])[0]


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not (found := condition()):
        check(time.monotonic() < end, "it did not come")
        time.sleep(0.001)
    return found


def spills():
    return list(pathlib.Path(".").glob(".*.spill"))


def spilled(least):
    """Bytes in the file, so many at least."""
    return sum(p.stat().st_size for p in spills()) > least


def finished(started):
    _, said = started.communicate(timeout=120)
    return said


def facts(file="trace.db"):
    stats = good(GTRACE, "stats", "--json", file).json
    same({k: v for k, v in stats["lost"].items() if v}, {}, "lost")
    return stats["facts"]


def late(pairs, waiting, moved=True, **options):
    """A run whose collector stands still until so many bytes wait, and the program until they have been moved."""
    started, collector = start("--pairs", str(pairs), **options)
    os.kill(collector, signal.SIGSTOP)
    program = program_of(started)
    spool = next(pathlib.Path("/dev/shm").glob(f"gtrace-{started.pid}-*"))
    until(lambda: spool.stat().st_blocks * 512 > waiting + TWO_RINGS)
    os.kill(program, signal.SIGSTOP)
    os.kill(collector, signal.SIGCONT)
    if moved:
        until(lambda: spilled(0))
    os.kill(program, signal.SIGCONT)
    said = finished(started)
    same(started.returncode, 0, f"exit status: {said}")
    same(spills(), [], "files left behind")


def test_the_same_as_an_independent_log():
    pairs = 500_000  # 8 bytes a call: clearly more than may wait in memory when there is little
    _, ours = log(LOOP, "--pairs", str(pairs), *RANDOM, env=FAKE)
    with memory_cgroup(LITTLE_MEMORY) as join:
        late(pairs, LITTLE + (2 << 20), preexec_fn=join)  # the spool holds more than records
    found = facts()
    check(int(found["spilled_bytes"]) > 1 << 20, f"{found['spilled_bytes']} bytes went through the file")
    pathlib.Path("expanded").write_bytes(good(GTRACE, "expand", "--json", "trace.db").out)
    try:
        count = compare(ours, "expanded", "alloc_loop")
    except Different as e:
        check(False, str(e))
    check(count > 2 * pairs, f"only {count} calls were compared")


def test_the_same_digest():
    late(MANY_PAIRS, MUCH + TAKEN)
    there = facts()
    check(int(there["spilled_bytes"]) > 1 << 20, f"{there['spilled_bytes']} bytes went through the file")
    deep = pathlib.Path(*["d" * 100] * (TOO_LONG // 100)) / ("x" * 30)
    deep.mkdir(parents=True)
    late(MANY_PAIRS, MUCH + TAKEN, moved=False, output=str(deep / "trace.db"))
    not_there = facts(deep / "trace.db")
    same(int(not_there["spilled_bytes"]), 0, "bytes that went through a file for which there is no place")
    same(there["memory_calls"], not_there["memory_calls"], "memory calls")
    digests = {good(GTRACE, "digest", file).text.split()[0] for file in ("trace.db", str(deep / "trace.db"))}
    same(len(digests), 1, f"digests: {digests}")


def test_the_program_does_not_wait():
    started, _ = start("--pairs", str(2 * MANY_PAIRS))
    said = finished(started)
    same(started.returncode, 0, f"exit status: {said}")
    found = facts()
    waited, wall = int(found["overhead.wait_ns"]), int(found["wall_ns"])
    if int(found["spilled_bytes"]) == 0:  # on a busy machine the program may be as slow as its collector
        print("nothing had to wait")
    check(waited <= 0.01 * wall, f"waited {waited / 1e9:.3f} s of {wall / 1e9:.3f}")
    same(spills(), [], "files left behind")


def test_the_program_is_killed():
    started, _ = start("--seconds", "60")
    until(lambda: spilled(4 << 20))
    os.kill(program_of(started), signal.SIGKILL)
    finished(started)
    found = facts()
    # A word of 8 bytes a call; little else is in the rings.
    check(int(found["memory_calls"]) > int(found["record_bytes"]) / 8 * 0.98, f"not all that was recorded: {found}")
    same(found["recording"], "complete", "the trace")
    same(spills(), [], "files left behind")


def test_the_collector_is_killed():
    started, collector = start("--seconds", "5")
    until(lambda: spilled(8 << 20))
    os.kill(collector, signal.SIGKILL)
    said = finished(started)
    same(len(spills()), 1, "what waited")
    spool = re.search(r"collector died .*signal 9.*gtrace recover (\S+)", said)
    check(spool, f"said: {said}")
    good(GTRACE, "recover", "-o", "rest.db", spool[1])
    found = facts("rest.db")
    same(found["recording"], "recovered", "the trace")
    # 8 MiB of the file stand for two million calls and more.
    check(int(found["memory_calls"]) > 1_500_000, f"{found['memory_calls']} memory calls")
    check(not pathlib.Path(spool[1]).exists(), "the spool is still there")
    same(spills(), [], "files left behind")


def test_little_room():
    """--max-size bounds the file, too. Then the program waits, and it is said."""
    with memory_cgroup(LITTLE_MEMORY) as join:
        started, _ = start("--pairs", str(2 * MANY_PAIRS), options=("--max-size", "1M"), preexec_fn=join)
        said = finished(started)
    same(started.returncode, 0, f"exit status: {said}")
    same(len(re.findall(r"gtrace: .*used up.*waits for the collector", said)), 1, f"lines about it: {said}")
    stats = good(GTRACE, "stats", "--json").json
    check(stats["trace"]["memory_calls"] > 4 * MANY_PAIRS, f"{stats['trace']['memory_calls']} memory calls")
    same({k: v for k, v in stats["lost"].items() if v}, {}, "lost")
    same(spills(), [], "files left behind")


main(globals())
