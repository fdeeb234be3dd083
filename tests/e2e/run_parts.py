#!/usr/bin/env python3
"""Where the time of a whole run goes: what gtrace run writes of it, and what ganalyze makes of that.

Usage: run_parts.py BUILD
"""

import contextlib
import sqlite3

from job import *  # noqa: F403

MIB = 1 << 20


def facts(file, like):
    with contextlib.closing(sqlite3.connect(file)) as db:
        return dict(db.execute("SELECT name, value FROM facts WHERE name LIKE ?", (like,)).fetchall())


def parts(report):
    return {p["part"]: p["ns"] for p in report["run"]["parts"]}


def test_a_run_and_its_parts():
    """Two arrays that the program fills, and a result that is received into memory that nobody has touched."""
    good(GTRACE, "run", "--", app("vadd"), "--elements", 8 * MIB, "--iterations", 1)
    run_facts, touch = facts("trace.db", "run.%"), facts("trace.db", "first_touch.%")
    check(int(run_facts["run.minor_faults"]) > 1000, f"{run_facts}: too few faults")
    recorded = int(facts("trace.db", "wall_ns")["wall_ns"])
    check(int(run_facts["run.wall_ns"]) >= recorded, f"{run_facts}: less than the {recorded} ns that were recorded")
    check(int(run_facts["run.user_ns"]) + int(run_facts["run.system_ns"]) > 0, "no processor time")
    check(100 < int(touch["first_touch.page_ns"]) < 1_000_000, f"{touch}")
    fresh = sorted(tuple(map(int, v.split())) for v in facts("trace.db", "fresh.%").values())
    same(sum(size for size, _ in fresh), 3 * 32 * MIB, "bytes of transfers")
    check(abs(sum(untouched for _, untouched in fresh) - 32 * MIB) < 4 * MIB, f"{fresh}: the result's memory is fresh")

    report = good(GANALYZE, "--json", "trace.db").json
    check(report["run"]["whole"], "the whole run was seen")
    same(sum(parts(report).values()), report["run"]["ns"], "the sum of the parts")
    for part in ("startup", "transfers", "touch_in_transfers", "kernels", "touch_elsewhere"):
        check(parts(report)[part] > 0, f"nothing in {part}: {parts(report)}")
    check(report["run"]["best_speedup"] > 1, "there is something to gain")
    check(report["goptimize"]["saved_s"] <= report["run"]["reachable_ns"] / 1e9 + 1e-9, "more than can be reached")
    text = good(GANALYZE, "trace.db").text
    check(0 < text.find("Where the run's time goes") < text.find("\nFindings"), "the bound comes before promises")


def test_memory_that_is_used_again_is_fresh_once():
    good(GTRACE, "run", "--", app("vadd"), "--elements", 8 * MIB, "--iterations", 10)
    fresh = [tuple(map(int, v.split())) for v in facts("trace.db", "fresh.%").values()]
    same(sum(size for size, _ in fresh), 10 * 3 * 32 * MIB, "bytes of transfers")
    check(sum(untouched for _, untouched in fresh) < 40 * MIB, f"{fresh}: only the first result's memory is fresh")


def test_small_transfers_are_not_looked_at():
    good(GTRACE, "run", "--", app("vadd"), "--elements", 65536, "--iterations", 3)
    same(facts("trace.db", "fresh.%"), {}, "fresh memory")


def test_a_program_that_a_signal_ends():
    outcome = run(GTRACE, "run", "--", "sh", "-c", "kill -9 $$")
    same(outcome.code, 137, "exit status")
    check(int(facts("trace.db", "run.%")["run.wall_ns"]) > 0, "the run has a length")


if __name__ == "__main__":
    main(globals())
