#!/usr/bin/env python3
"""gtrace run --no-memory-detail: what is counted only, what is listed, and that nothing is lost or claimed.

Usage: counted_memory.py BUILD
"""

import os
import pathlib
import signal
import subprocess
import sys
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
from job import *  # noqa: E402, F403
from compare import plain_name, read_log, read_trace  # noqa: E402
from unfolded import log  # noqa: E402

FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}  # what a driver allocates is not what this is about
KNOWN = tests_dir / "alloc_known"
FROM = 4096
RESIZING = ("realloc", "reallocarray")
ALWAYS_LISTED = ("mmap", "munmap")


def counted_run(*command, file="trace.db", options=()):
    return run(GTRACE, "run", "--no-memory-detail", *options, "-o", file, "--", *command, env=FAKE)


def stats(file="trace.db"):
    return good(GTRACE, "stats", "--json", "--top", "0", file).json


def size_from(size):
    return 0 if size == 0 else 1 << (size.bit_length() - 1)


def asked(function, args):
    if "bytes" in args:
        return args["bytes"][1]
    return args["size"][1] * args.get("nmemb", (0, 1))[1] & (1 << 64) - 1 if "size" in args else None


def makes(function):
    return function not in ("free", "delete", "delete[]", "munmap", "malloc_usable_size")


def expected(calls):
    """(Counter of (function, size class), [listed call]) of a log, by following each block's size."""
    counted, listed, live = Counter(), [], {}
    for thread, function, site, args in calls:
        if not site.startswith("alloc_known+") or function.startswith("cl"):
            continue
        size = asked(function, args) if makes(function) else None
        old = live.get(args["ptr"][1]) if "ptr" in args else None
        made = args["memptr"][1] if "memptr" in args else args.get("return", ("p", 0))[1] if makes(function) else 0
        if function in ALWAYS_LISTED or any(n is not None and n >= FROM for n in (size, old)):
            listed.append((function, site, size))
        else:
            counted[function, size_from(size) if makes(function) else None] += 1
        if function in ("free", "delete", "delete[]") or function in RESIZING and made:
            live.pop(args.get("ptr", ("p", 0))[1], None)
        if made:
            live[made] = size
    return counted, listed


def listed_in(file):
    pathlib.Path("expanded").write_bytes(good(GTRACE, "expand", "--json", file).out)
    out = []
    for _, function, site, args in read_trace("expanded"):
        if site.startswith("alloc_known+") and not function.startswith("cl"):
            sizes = [args[k] for k in ("size", "nmemb") if k in args]
            size = None if not makes(function) or not sizes else sizes[0] * (sizes[1:] or [1])[0]
            out.append((function, site, size))
    return out


def counted_in(summary):
    got = Counter()
    for row in summary["counted"]:
        if row["site"].startswith("alloc_known+"):
            got[plain_name(row["function"]), row["size_from"]] += row["calls"]
    return got


def test_counts_are_those_of_an_independent_log():
    alone, ours = log(KNOWN, env=FAKE)
    outcome = counted_run(KNOWN)
    same((alone.code, outcome.code), (0, 0), "exit status")
    want, listed = expected(read_log(ours))
    summary = stats()
    same(dict(counted_in(summary)), dict(want), "calls by function and size")
    check(sum(want.values()) > 4000 and len(listed) > 60, f"{sum(want.values())} counted, {len(listed)} listed")
    same(summary["trace"]["counted_calls"], sum(r["calls"] for r in summary["counted"]), "their sum")
    check("memory calls" in outcome.err_text and "counted" in outcome.err_text, outcome.err_text)
    same({k: v for k, v in summary["lost"].items() if v}, {}, "lost")
    same(summary["facts"]["foreign_releases"], 0, "releases of unknown blocks")
    got, want = ([Counter((f, None if "dup" in f else n) for f, _, n in calls)
                  for calls in (listed_in("trace.db"), listed)])
    same(dict(got), dict(want), "listed calls")


def test_other_allocators():
    found = [p for name in ("libjemalloc.so*", "libmimalloc.so*") for p in pathlib.Path("/usr/lib").glob(f"*/{name}")]
    if not found:
        raise Skip("neither jemalloc nor mimalloc is installed")
    counted_run(KNOWN)
    libc = counted_in(stats())
    for allocator in found:
        outcome = run(GTRACE, "run", "--no-memory-detail", "-o", "other.db", "--", KNOWN,
                      env={**FAKE, "LD_PRELOAD": str(allocator)})
        same(outcome.code, 0, f"exit status with {allocator}")
        other = stats("other.db")
        same(dict(counted_in(other)), dict(libc), f"calls by function and size with {allocator}")
        same(other["facts"]["foreign_releases"], 0, f"releases of unknown blocks with {allocator}")


def test_aligned_new():
    counted_run(KNOWN, "--aligned-new")
    rows = {r["function"]: (r["calls"], r["size_from"]) for r in stats()["counted"] if "align" in r["function"]}
    same((rows["operator new(align)"], rows["operator delete(align)"]), ((1, 64), (1, None)), "counted")
    same([n for f, _, n in listed_in("trace.db") if f == "new"].count(9000), 3, "listed")


def test_large_blocks_are_listed_as_in_a_whole_trace():
    same((traced(KNOWN, file="all.db", env=FAKE).code, counted_run(KNOWN).code), (0, 0), "exit status")
    large = Counter(c for c in listed_in("trace.db"))
    every = Counter(c for c in listed_in("all.db"))
    check(large <= every, f"only in the trace of large blocks: {large - every}")
    check(all(n is None or n < FROM for _, _, n in (every - large)), f"missing: {every - large}")


def test_killed():
    command = [GTRACE, "run", "--no-memory-detail", "-o", "trace.db", "--", str(KNOWN), "--forever"]
    with subprocess.Popen(command, env={**os.environ, **FAKE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tracer:
        tracer.stdout.readline()  # a million calls have been made
        children = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()
        programs = [c for c in children if b"--forever" in pathlib.Path(f"/proc/{c}/cmdline").read_bytes()
                    and b"gtrace" not in pathlib.Path(f"/proc/{c}/cmdline").read_bytes().split(b"\0")[0]]
        same(len(programs), 1, f"programs among {children}")
        good(GTRACE, "ctl", "--pid", programs[0], "snapshot")
        snapshot = stats()["trace"]["counted_calls"]
        os.kill(int(programs[0]), signal.SIGKILL)
        tracer.communicate(timeout=60)
    check(2_000_000 < snapshot < stats()["trace"]["counted_calls"], f"{snapshot} calls, then {stats()['trace']}")
    check(pathlib.Path("trace.db").stat().st_size < 256 << 10, "counts take next to nothing")


def test_killed_with_its_collector():
    command = [GTRACE, "run", "--no-memory-detail", "-o", "trace.db", "--", str(KNOWN), "--forever"]
    with subprocess.Popen(command, env={**os.environ, **FAKE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tracer:
        tracer.stdout.readline()
        for child in pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        said = tracer.communicate(timeout=60)[1].decode()
    spool = re.search(r"gtrace recover (\S+)", said)
    check(spool, f"no spool is named: {said}")
    good(GTRACE, "recover", "-o", "left.db", spool[1])
    check(stats("left.db")["trace"]["counted_calls"] > 2_000_000, "the counts are in the spool")


def test_sizes():
    nothing = counted_run(KNOWN, options=("--detail-from", "0"))
    same((nothing.code, stats()["counted"], stats()["trace"]["counted_calls"]), (0, [], 0), "0 lists everything")
    check("counted" not in nothing.err_text, nothing.err_text)
    counted_run(KNOWN, options=("--detail-from", "1000000T"), file="huge.db")
    check(all(f in ALWAYS_LISTED or n > 1 << 60 for f, _, n in listed_in("huge.db")), "blocks that are no larger")
    counted_run(KNOWN, options=("--detail-from", "50"), file="tiny.db")
    check(all(r["size_from"] is None or r["size_from"] < 50 for r in stats("tiny.db")["counted"]), "sizes below 50")


def test_bad_values():
    for options in (("--detail-from", "4K"), ("--no-memory-detail", "--detail-from", "many"),
                    ("--no-memory-detail", "--detail-from", "-1")):
        outcome = run(GTRACE, "run", *options, "--", KNOWN, env=FAKE)
        same(outcome.code, USAGE, f"exit status with {options}")
        same(len(outcome.err_text.splitlines()), 1, f"lines: {outcome.err_text}")
        check("--detail-from" in outcome.err_text, outcome.err_text)
        check(not pathlib.Path("trace.db").exists(), "something was run")


def test_an_allocator_without_sizes_is_recorded_whole():
    outcome = counted_run(tests_dir / "interpose" / "bin" / "own_malloc")
    check("all their memory calls" in outcome.err_text, outcome.err_text)


def test_readers():
    counted_run(KNOWN)
    shown = good(GTRACE, "show", "trace.db").text
    check(re.search(r"^\d+ memory calls of blocks below 4\.00? KiB were only counted", shown, re.M), shown[-400:])
    check("only counted" not in good(GTRACE, "show", "--no-memory", "trace.db").text, "a line that nobody asked for")
    table = good(GTRACE, "stats", "trace.db").text
    check("counted only" in table and "operator new" in table, table)
    check("counted.0" not in table and "counted." not in str(stats()["facts"].keys()), "rows among the facts")
    check(good(GTRACE, "stats", "--csv", "--by", "counted").text.startswith("site,function,size_from,calls,bytes"), "csv")
    traced(KNOWN, file="all.db", env=FAKE)
    diff = run(GTRACE, "diff", "trace.db", "all.db")
    check(diff.code == 1 and "B those of all blocks" in diff.text, diff.text[:400])
    same(run(GTRACE, "diff", "trace.db", "trace.db").code, 0, "a trace and itself")
    good(GTRACE, "digest", "trace.db")
    good(GANALYZE, "-o", "p.gprofile", "trace.db")


main(globals())
