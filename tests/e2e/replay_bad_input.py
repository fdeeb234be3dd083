#!/usr/bin/env python3
"""Replays of what is damaged, cut short, somebody else's, or for another device: one clear line, the exit statuses of
docs/replay.md, and no crash but one that is told.

Usage: replay_bad_input.py BUILD
"""

import random
import shutil
import sqlite3

from job import *  # noqa: F403

PROGRAM = tests_dir / "replayed"
DAMAGED = 3


def recorded(file="trace.db", what="every"):
    good(GTRACE, "run", "--capture", "full", "-o", file, "--", PROGRAM, what)
    return pathlib.Path(file), pathlib.Path(file).with_suffix(".contents")


def replayed(*options, **how):
    return run(GTRACE, "replay", *options, **how)


def test_no_trace():
    pathlib.Path("text.db").write_text("not a trace\n" * 500)
    pathlib.Path("empty.db").write_bytes(b"")
    pathlib.Path("folder.db").mkdir()
    with sqlite3.connect("other.db") as db:
        db.execute("CREATE TABLE fruit (name TEXT)")
    for name in ("text", "empty", "other"):
        one_line(replayed(f"{name}.db"), DAMAGED, f"{name}.db")
    check(replayed("folder.db").code in (USAGE, DAMAGED, ENVIRONMENT), "a folder")
    one_line(replayed("absent.db"), ENVIRONMENT, "absent.db")


def test_cut_short():
    trace, _ = recorded()
    whole = trace.read_bytes()
    for size in (len(whole) // 2, len(whole) - 4096, 100):
        trace.write_bytes(whole[:size])
        one_line(replayed("trace.db"), DAMAGED, "trace.db")


def test_a_later_version():
    trace, contents = recorded()
    whole = contents.read_bytes()
    contents.write_bytes(whole[:16] + (99).to_bytes(4, "little") + whole[20:])
    one_line(replayed("trace.db"), ENVIRONMENT, "trace.contents", "format 99")
    contents.write_bytes(whole)
    with sqlite3.connect(trace) as db:
        db.execute("PRAGMA user_version = 99")
    one_line(replayed("trace.db"), ENVIRONMENT, "trace.db", "format 99")


def test_somebody_elses_contents():
    _, contents = recorded()
    _, other = recorded("other.db")
    shutil.copy(other, contents)
    one_line(replayed("trace.db"), USAGE, "trace.contents", "another")
    one_line(run(GTRACE, "extract", "trace.db", "--kernel", "stir", "-o", "launch"), USAGE, "trace.contents")
    check(not pathlib.Path("launch").exists(), "it left an empty folder")


def chunks(data):
    """Where the bodies of chunks are, and how long."""
    at, found = 48, []
    while at + 40 <= len(data):
        kind, size = (int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4))
        if kind == 1:
            found.append((at + 40, size))
        at += 40 + size
    return found


def test_a_damaged_chunk():
    _, contents = recorded()
    whole = contents.read_bytes()
    for at, size in chunks(whole):
        contents.write_bytes(whole[:at] + bytes(b ^ 0x55 for b in whole[at : at + size]) + whole[at + size :])
        outcome = replayed("trace.db")
        one_line(outcome, DAMAGED, "trace.contents", "damaged")
        check("OpenCL calls" in outcome.text, "what could be replayed is not told")


def test_another_device():
    """It computes nothing: results differ, and nothing else happens."""
    recorded()
    fake = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}
    check(replayed("trace.db", env=fake).code in (1, ENVIRONMENT), "the fake device")
    one_line(replayed("trace.db", "--device", "gpu", env={"OCL_ICD_VENDORS": "/nonexistent"}), ENVIRONMENT, "no OpenCL device")
    one_line(replayed("trace.db", "--device", "7"), USAGE, "no such device")


def test_random_damage():
    trace, contents = recorded()
    files = {f: f.read_bytes() for f in (trace, contents)}
    rng = random.Random(27)
    for i in range(40):
        for f, whole in files.items():
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            f.write_bytes(data if f == (trace, contents)[i % 2] else whole)
        outcome = replayed("trace.db", timeout=60)
        told = "the replay was ended by signal" in outcome.err_text
        check(outcome.code <= 4 or told, f"{i}: exit status {outcome.code}: {outcome.err_text}")
        check(outcome.code in (0, 1) or len(outcome.err_text.splitlines()) >= 1, f"{i}: {outcome.code} without a word")


main(globals())
