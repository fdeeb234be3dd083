#!/usr/bin/env python3
"""ganalyze --query: questions by name, SQL, formats; and nothing but reading.

Usage: asking.py BUILD FOLDER_OF_DOCS FOLDER_OF_SAMPLES
"""

import csv
import io
import pathlib
import sqlite3

from job import *  # noqa: F403

DOCS, SAMPLES = (pathlib.Path(a).resolve() for a in arguments)
QUESTIONS = re.findall(r"^\d+\. .*?\n```sql\n(.*?)```", (DOCS / "TRACE_FORMAT.md").read_text(), re.M | re.S)
N = 30


def record():
    same(traced(app("vadd"), "--elements", 4096, "--iterations", N).code, 0, "exit status")


def ask(query, *flags, file="trace.db"):
    return good(GANALYZE, "--query", query, *flags, file)


def names():
    return [q["name"] for q in good(GANALYZE, "--query", "list", "--json").json]


def test_the_list_needs_no_trace():
    listed = good(GANALYZE, "--query", "list").text.splitlines()
    same([l.split()[0] for l in listed], names(), "names")
    check(len(listed) >= 15 and all(len(l) < 100 for l in listed), "one line for each")


def test_the_questions_of_the_documentation():
    record()
    db = sqlite3.connect("file:trace.db?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    for name, sql in zip(names(), QUESTIONS):
        same(ask(name, "--json").json, [dict(row) for row in db.execute(sql)], f"the answer to {name}")


def test_every_name_has_an_answer():
    record()
    for name in names():
        rows = ask(name, "--json").json
        check(rows or name in ("failed", "untimed", "small"), f"no row: {name}")
        text = ask(name).text.splitlines()
        same(len(text), len(rows) + 1, f"lines of {name}")


def test_answers_are_right():
    record()
    report = good(GANALYZE, "--json", "trace.db").json
    sites = ask("sites", "--json").json
    same({s["site"]: s["transfers"] for s in sites},
         {f"{a['site']['function']} ({pathlib.Path(a['site']['file']).name}:{a['site']['line']})": a["transfers"]
          for a in report["allocations"]}, "transfers by site")
    blocking = {r["function"] for r in ask("blocking", "--json").json}
    check("clFinish" in blocking or "clEnqueueReadBuffer" in blocking, f"blocking: {blocking}")
    check("clEnqueueNDRangeKernel" not in blocking and "clCreateBuffer" not in blocking, f"blocking: {blocking}")
    same(ask("biggest", "--json").json[0]["largest_bytes"], 4 * 4096, "the biggest transfer")
    launches = ask("SELECT sum(calls) AS n FROM stats WHERE shape IN (SELECT h.id FROM shapes h JOIN functions f "
                   "ON f.id = h.function WHERE f.launch)", "--json").json
    same(launches, [{"n": N}], "launches")


def test_formats():
    record()
    sql = "SELECT 1 AS a, 'x,\"y\"' AS b, NULL AS c, 1.5 AS d, x'00ff' AS e, 1 AS a"
    same(ask(sql, "--json").json, [{"a": 1, "b": 'x,"y"', "c": None, "d": 1.5, "e": "00ff", "a_2": 1}], "JSON")
    same(list(csv.reader(io.StringIO(ask(sql, "--csv").text))),
         [["a", "b", "c", "d", "e", "a_2"], ["1", 'x,"y"', "", "1.5", "00ff", "1"]], "CSV")
    same(ask("SELECT 'left' AS word, 5 AS n UNION ALL SELECT 'l', 123").text, "word    n\nleft    5\nl     123\n", "table")
    same(ask("SELECT 1 WHERE 0", "--json").json, [], "no row")
    same(ask("SELECT 1 AS a WHERE 0").text, "a\n", "no row as a table")
    one_line(run(GANALYZE, "--query", "calls", "--csv", "--json", "trace.db"), USAGE)


def test_only_reading():
    record()
    before = pathlib.Path("trace.db").read_bytes()
    for sql in ("DELETE FROM stats", "UPDATE stats SET calls = 0", "DROP TABLE stats", "CREATE TABLE t(a)",
                "CREATE TEMP TABLE t(a)", "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "PRAGMA journal_mode = WAL",
                "PRAGMA query_only = OFF", "PRAGMA user_version = 7", "SELECT load_extension('x')", "BEGIN",
                "PRAGMA writable_schema = 1", "SELECT 1; DROP TABLE stats", "DETACH main", "REINDEX"):
        one_line(run(GANALYZE, "--query", sql, "trace.db"), USAGE)
    same(pathlib.Path("trace.db").read_bytes(), before, "the trace")
    same([p.name for p in pathlib.Path(".").iterdir() if p.name != ".data"], ["trace.db"], "files")
    check(ask("PRAGMA table_info(stats)", "--json").json, "columns")
    check(ask("SELECT 1; -- and a comment").text, "a semicolon at the end")


def test_bad_questions():
    record()
    one_line(run(GANALYZE, "--query", "no_such_name", "trace.db"), USAGE, "no_such_name", "list")
    one_line(run(GANALYZE, "--query", "SELEC 1", "trace.db"), USAGE, "SELEC")
    one_line(run(GANALYZE, "--query", "SELECT * FROM\nno_table", "trace.db"), USAGE, "no such table: no_table")
    one_line(run(GANALYZE, "--query", "-- nothing", "trace.db"), USAGE, "empty")
    one_line(run(GANALYZE, "--query", "SELECT abs(-9223372036854775808)", "trace.db"), USAGE, "overflow")
    one_line(run(GANALYZE, "--query", "SELECT zeroblob(900000000)", "trace.db"), USAGE, "too big")
    one_line(run(GANALYZE, "--query", "calls", "missing.db"), ENVIRONMENT, "missing.db")
    pathlib.Path("text.db").write_text("no trace")
    one_line(run(GANALYZE, "--query", "calls", "text.db"), INPUT, "text.db")


def test_a_foreign_view_is_not_followed():
    record()
    db = sqlite3.connect("trace.db")
    db.executescript("DROP VIEW transfers; CREATE VIEW transfers AS SELECT 'foreign' AS direction;"
                     "CREATE VIEW strange AS SELECT 1;")
    db.close()
    check("foreign" not in ask("transfers").text, "the file's own view")
    one_line(run(GANALYZE, "--query", "SELECT * FROM strange", "trace.db"), USAGE)


def test_traces_of_older_formats():
    samples = sorted(SAMPLES.glob("*.db"))
    check(len(samples) >= 2, "no samples")
    for sample in samples:
        for name in names():
            ask(name, file=sample)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


def test_an_endless_query_can_be_interrupted():
    record()
    # The first row tells that the query runs; the rest is silent.
    command = [GANALYZE, "--query", ENDLESS.format("i"), "--csv", "trace.db"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(20)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    same(process.returncode, 130, "exit status")
    check(re.fullmatch(rb"ganalyze: interrupted after \d+ rows\n", err), f"stderr: {err}")
    check(out.endswith(b"\n"), "the last row is whole")


def test_output_is_streamed():
    record()
    limited = f"ulimit -v 2000000; {GANALYZE} --query '{ENDLESS.format('i, hex(zeroblob(500)) AS h')}' trace.db | head -100000 | tail -1"
    outcome = run("sh", "-c", limited)
    check(outcome.text.split()[0] == "99999", f"row: {outcome.text[:50]}")
    same(outcome.err_text, "", "words about a reader that went away")


def test_memory_is_bounded():
    record()
    outcome = run(GANALYZE, "--query", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30) "
                  "SELECT group_concat(hex(zeroblob(20000000))) FROM n", "trace.db")
    one_line(outcome, outcome.code, "too big|memory")
    check(outcome.code in (USAGE, ENVIRONMENT), "exit status")


main(globals())
