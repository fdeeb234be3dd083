#!/usr/bin/env python3
"""What --capture says of the data that transfers move, against the program's own hashes of it.

Usage: capture.py BUILD
"""

from job import *  # noqa: F403

CONTENTS = tests_dir / "contents"


def captured(*args, capture="hash", options=()):
    outcome = run(GTRACE, "run", "--capture", capture, *options, "--", CONTENTS, *args)
    same(outcome.code, 0, "exit status")
    return [line for line in outcome.text.split("\n")[:-1] if not line.startswith("later ")]


def numbered(lines):
    """The program's lines as content numbers: by first appearance, -1 for what was not to be seen."""
    numbers = {}
    return [-1 if line == "?" else numbers.setdefault(line, len(numbers)) for line in lines]


def contents():
    calls = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    return [c["args"]["content"] for c in calls if "content" in c["args"]]


def test_equal_numbers_for_equal_bytes():
    expected = numbered(captured("40"))
    same(contents(), expected, "contents")
    check(-1 in expected and len(set(expected)) > 40, "the program moved too little")


def test_contents_fold():
    own = ("--no-alloc",) if driver.NAME != "pocl" else ()  # other drivers' own blocks differ from run to run
    captured("1000", options=own)
    shown = good(GTRACE, "show", "trace.db").text
    loop = shown[shown.index("loop"):shown.index("}")]
    same(re.findall(r"content=([^)]*)", loop), ["0", "i+1", "i+1"], "contents in the loop")
    facts = good(GTRACE, "stats", "--json", "trace.db").json
    same(facts["facts"]["capture"], "hash", "fact")
    same(facts["lost"]["contents_forgotten"], 0, "contents forgotten")
    check(facts["overhead"]["capture_ns"] > 0, "hashing took no time")
    size = os.path.getsize("trace.db")
    captured("30000", options=own)
    check(abs(os.path.getsize("trace.db") - size) <= 4096, "the trace grew with the iterations")


def test_nothing_unless_asked():
    captured(capture="none")
    same(contents(), [], "contents")
    same(good(GTRACE, "stats", "--json", "trace.db").json["facts"]["capture"], "none", "fact")
    one_line(run(GTRACE, "run", "--capture", "all", "--", CONTENTS), USAGE, "capture")


def test_export_and_diff_know_contents():
    captured("5")
    rows = good(GTRACE, "export", "--format", "json", "-o", "-", "trace.db").text
    check('"content"' in rows, "no content in the export")
    captured("5")
    same(run(GTRACE, "diff", "trace.1.db", "trace.db").code, 0, "two runs with the same data")


main(globals())
