#!/usr/bin/env python3
"""The questions of docs/TRACE_FORMAT.md, asked in SQL as they stand there; their answers agree with gtrace's own.

Usage: queries.py BUILD FOLDER_OF_DOCS
"""

import pathlib
import sqlite3

from job import *  # noqa: F403

QUESTIONS = re.findall(r"^(\d+)\. (.*?)\n```sql\n(.*?)```", (pathlib.Path(arguments[0]) / "TRACE_FORMAT.md").read_text(),
                       re.M | re.S)


def answers():
    outcome = traced(app("vadd"), "--elements", 4096, "--iterations", 50)
    same(outcome.code, 0, "exit status")
    db = sqlite3.connect("file:trace.db?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    return {int(number): [dict(row) for row in db.execute(query)] for number, _, query in QUESTIONS}


def test_every_question_has_an_answer():
    found = answers()
    same(sorted(found), list(range(1, 11)), "numbers of the questions")
    for number, title, _ in QUESTIONS:
        check(found[int(number)], f"no row: {title}")


def test_the_answers_are_right():
    found = answers()
    stats = good(GTRACE, "stats", "--json", "--top", 0, "trace.db").json
    functions = {f["name"]: f for f in stats["functions"]}
    top = found[1][0]
    check(abs(top["host_ms"] - functions[top["function"]]["total_ns"] / 1e6) < 1e-3, "time of the dearest call")
    moved = {}
    for row in found[2]:
        moved[row["direction"]] = moved.get(row["direction"], 0) + row["bytes"]
    same(moved, {"h2d": 50 * 2 * 4 * 4096, "d2h": 50 * 4 * 4096}, "bytes moved")
    check(any(row["allocated_by"] == "malloc" for row in found[3]), "a transfer from malloc'ed memory")
    same(sum(row["launches"] for row in found[4]), 50, "launches")
    ratio = good(GANALYZE, "--json", "trace.db").json["dispatch_ratio"]
    check(abs(found[5][0]["dispatch_ratio"] - ratio) <= 0.001 + ratio * 0.001, "dispatch ratio")
    check(any(row["iterations"] in (49, 50) and "clEnqueueNDRangeKernel" in row["functions"] for row in found[6]),
          "the loop")
    check(any(row["name"] == "clEnqueueNDRangeKernel" and row["first_us"] > 0 for row in found[7]), "first launch")
    sizes = [row for row in found[8] if row["bytes"] == 4 * 4096]
    check(len(sizes) == 3 and all(row["seen_by_opencl"] for row in sizes), "the three arrays")
    check(found[9][0]["source_bytes"] > 100 and found[9][0]["name"].startswith("vadd"), "the kernel's source")
    check({"lost.undecodable_records", "overhead.wait_ns"} <= {row["name"] for row in found[10]}, "facts")


main(globals())
