#!/usr/bin/env python3
"""`import gtrace`: its tables say what `gtrace expand --json` and `gtrace stats --json` say, of files of every format;
files that are no traces are refused with one sentence.

Usage: python_package.py BUILD ROOT
"""

import collections
import importlib.util
import shutil
import sqlite3

from job import *  # noqa: F403

ROOT = pathlib.Path(arguments[0])
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gtrace  # noqa: E402

SAMPLES = sorted((ROOT / "traces" / "samples").glob("format*.db"))


def total(rows, key, *values):
    sums = collections.defaultdict(lambda: [0] * len(values))
    for row in rows:
        for i, v in enumerate(values):
            sums[key(row)][i] += row[v]
    return dict(sums)


def same_tables(path):
    stats = good(GTRACE, "stats", "--json", "--top", 0, path).json
    with gtrace.open(path, tool=GTRACE) as trace:
        same({f["name"]: f for f in trace.functions()}, {f["name"]: f for f in stats["functions"] + stats["callbacks"]},
             "functions")
        same({k["name"]: k for k in trace.kernels()}, {k["name"]: k for k in stats["kernels"]}, "kernels")
        one = ("site", "function")
        mine, theirs = ({tuple(a[k] for k in one): a for a in rows} for rows in (trace.allocations(), stats["allocations"]))
        same({k: dict(v) for k, v in mine.items()}, theirs, "allocations")
        mine = total(trace.transfers(), lambda t: t["direction"], "count", "bytes", "ns")
        theirs = total(stats["transfers"], lambda t: t["direction"], "count", "bytes", "total_ns")
        same(sorted(mine), sorted(theirs), "directions")
        for direction, (count, *sums) in mine.items():  # stats shares sums out over size classes, and rounds each
            same(count, theirs[direction][0], f"transfers {direction}")
            for a, b in zip(sums, theirs[direction][1:]):
                check(abs(a - b) <= 64, f"{direction}: {a} and {b}")
        for name in ("lost.", "overhead."):
            there = {k: v for k, v in trace.facts.items() if k.startswith(name)}
            same(there, {name + k: v for k, v in stats[name[:-1]].items()}, f"facts {name}")
        called = total(trace.call_sites(), lambda c: c["function"], "calls")
        same({k: v[0] for k, v in called.items()}, {f["name"]: f["calls"] for f in trace.functions()}, "calls by place")


def same_calls(path, **chosen):
    options = [o for k, v in chosen.items() if k != "memory" for o in (f"--{k}", v)]
    options += [] if chosen.get("memory", True) else ["--no-memory"]
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", *options, path).text.splitlines()]
    with gtrace.open(path, tool=GTRACE) as trace:
        calls = trace.calls(**chosen)
    same(len(calls), len(lines), f"calls with {chosen}")
    for mine, theirs in zip(calls, lines):
        same({k: v for k, v in mine.items() if v is not None or k in theirs}, theirs, "a call")
    return calls


def test_samples_of_every_format():
    check(len(SAMPLES) >= 3, "samples")
    for path in SAMPLES:
        same_tables(path)
        same_calls(path)


def test_a_recorded_program():
    same(traced(app("vadd"), "--elements", 4096, "--iterations", 50).code, 0, "exit status")
    same_tables("trace.db")
    every = same_calls("trace.db")
    launches = same_calls("trace.db", calls="clEnqueueNDRange*", memory=False)
    same(len(launches), 50, "launches")
    check(len(every) > len(launches), "the whole")
    with gtrace.open() as trace:  # the newest here
        same(str(trace.path), "trace.db", "the newest")
        sources = trace.transfers().where(direction="h2d")
        check(all(t["allocated_at"] for t in sources), "sources of transfers")
        same(sum(sources.column("bytes")), 50 * 2 * 4 * 4096, "bytes to the device")
        check(set(trace.tables()) >= {"transfers", "kernels", "allocations", "functions", "devices"}, "names of tables")


def test_a_reader_that_stops_early():
    same(traced(app("vadd"), "--elements", 1024, "--iterations", 2000).code, 0, "exit status")
    with gtrace.open("trace.db", tool=GTRACE) as trace:
        calls = trace.iter_calls()
        first = next(calls)
        calls.close()
        check(first["n"] is not None, "the first call")


def test_tables():
    table = gtrace.Table(("a", "b"), [{"a": 1, "b": "x,y"}, {"a": 3, "b": "<b>"}])
    same(table.column("a"), [1, 3], "a column")
    same(table.sorted("a").column("a"), [3, 1], "sorted")
    same(list(table.where(a=3)), [{"a": 3, "b": "<b>"}], "where")
    same(table.csv(), 'a,b\n1,"x,y"\n3,<b>\n', "csv")
    check("&lt;b&gt;" in table._repr_html_(), "text of programs is no HTML")


def test_frames():
    if importlib.util.find_spec("pandas") is None:
        try:
            gtrace.Table(("a",)).frame()
        except ImportError as e:
            check("pandas" in str(e), "names what is missing")
        raise Skip("pandas is not installed")
    with gtrace.open(SAMPLES[-1]) as trace:
        for name, table in trace.tables().items():
            frame = table.frame()
            same((list(frame.columns), len(frame)), (list(table.columns), len(table)), name)


def refused(text, path, **options):
    try:
        with gtrace.open(path, **options) as trace:
            trace.tables()
            trace.calls()
    except gtrace.TraceError as e:
        check(re.search(text, str(e)), f"no '{text}' in: {e}")
        return
    check(False, f"{path} was not refused")


def changed(name, statement):
    shutil.copy(SAMPLES[-1], name)
    db = sqlite3.connect(name)
    db.executescript(statement)
    db.close()
    return name


def test_strangers():
    refused("No such file", "nothing.db")
    pathlib.Path("text.db").write_text("no trace")
    refused("no trace", "text.db")
    sqlite3.connect("other.db").executescript("CREATE TABLE a(b)")
    refused("no trace", "other.db")
    refused("later version", changed("later.db", "PRAGMA user_version = 99"))
    refused("damaged", changed("view.db", "ALTER TABLE stats RENAME TO old; CREATE VIEW stats AS SELECT * FROM old"))
    whole = SAMPLES[-1].read_bytes()
    pathlib.Path("cut.db").write_bytes(whole[:len(whole) // 2])
    refused("damaged|malformed|truncated|ends", "cut.db", tool=GTRACE)
    # What the tables alone do not show the program finds when it unfolds.
    refused(".", changed("edited.db", "UPDATE shapes SET function = 3 WHERE id = 0"), tool=GTRACE)
    refused("is no program", SAMPLES[-1], tool="/nowhere/gtrace")


def test_a_chain_without_an_end():
    path = changed("loop.db", "UPDATE sites SET \"outer\" = id")
    with gtrace.open(path) as trace:
        check(all(len(c["site"]) < 10000 for c in trace.call_sites()), "names end")


if __name__ == "__main__":
    main(globals())
