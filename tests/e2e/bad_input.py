#!/usr/bin/env python3
"""Whatever is wrong outside: one clear line, the documented exit status, and no trace lost that could be kept.

Usage: bad_input.py BUILD
"""

import pathlib
import random
import sqlite3

from job import *  # noqa: F403

VADD = (app("vadd"), "--elements", 1024, "--iterations", 20)
PROGRAMS = ((GTRACE, "run", "--"), (GOPTIMIZE, "run", "--"))


def trace():
    same(traced(*VADD).code, 0, "exit status")


def test_missing_program():
    for launcher in PROGRAMS:
        one_line(run(*launcher, "/no/such/program"), USAGE, "/no/such/program")
        one_line(run(*launcher, "no-such-program"), USAGE, "no-such-program")
    check(not pathlib.Path("trace.db").exists(), "a trace of nothing")


def test_not_executable():
    pathlib.Path("data").write_text("not a program")
    for launcher in PROGRAMS:
        one_line(run(*launcher, "./data"), USAGE, "data")


def test_usage():
    for program in (GTRACE, GANALYZE, GOPTIMIZE):
        same(run(program, "--no-such-option").code, USAGE, "exit status")
        good(program, "--help")
        good(program, "--version")
    same(run(GTRACE, "run").code, USAGE, "exit status without a program")


def test_static_executable():
    pathlib.Path("s.c").write_text('#include <stdio.h>\nint main(void) { puts("static"); return 5; }\n')
    good("gcc", "-static", "-o", "s", "s.c")
    for launcher in PROGRAMS:
        stage = ("--stage", "always") if GOPTIMIZE in launcher else ()  # there is something to be injected
        outcome = run(*launcher[:-1], *stage, "--", "./s")
        same((outcome.code, outcome.out), (5, b"static\n"), "the program still runs")
        check(re.search("static|as it is", outcome.err_text), "nothing said about a static executable")
    check(run(GTRACE, "run", "--strict", "--", "./s").code in (USAGE, ENVIRONMENT), "--strict runs it")


def test_no_opencl_at_all():
    outcome = traced("/bin/true")
    same(outcome.code, 0, "exit status")
    check(re.search("opencl", outcome.err_text, re.I), "nothing said about OpenCL")
    same(run(GOPTIMIZE, "run", "--", "/bin/false").code, 1, "exit status under goptimize")


def test_no_driver():
    without = {"OCL_ICD_VENDORS": "/nonexistent"}
    outcome = traced(*VADD, env=without)
    same(outcome.code, 4, "the program's own exit status")
    check("no OpenCL platform" in outcome.err_text, "the program's own words")
    good(GTRACE, "stats", "trace.db")
    run(GANALYZE, "trace.db")
    check(run(GANALYZE, "trace.db").code in (0, INPUT, ENVIRONMENT), "ganalyze of a trace without a device")
    same(run(GOPTIMIZE, "run", "--", *VADD, env=without).code, 4, "exit status under goptimize")


def test_unwritable_directory():
    if os.geteuid() == 0:
        needs("setpriv")
        as_nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        if run(*as_nobody, GTRACE, "--version").code != 0:
            raise Skip("another user cannot reach the build folder")
        os.chmod(".", 0o755)
    else:
        as_nobody = ()
        os.mkdir("closed", 0o555)
        os.chdir("closed")
    outcome = run(*as_nobody, GTRACE, "run", "--", *VADD)
    same(outcome.code, ENVIRONMENT, "exit status")
    check(re.search("permission denied", outcome.err_text, re.I), "no reason given")


def test_full_disk():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "small").code != 0:
        raise Skip("mounting is not permitted here")
    try:
        outcome = traced(*VADD, file="small/trace.db")
        check(re.search("no space", outcome.err_text, re.I), "no reason given")
        saved = re.findall(r"\S+\.db", outcome.err_text)[-1]
        check(not saved.startswith("small"), "the trace is said to be on the full disk")
        calls = {f["name"]: f["calls"] for f in good(GTRACE, "stats", "--json", saved).json["functions"]}
        same(calls["clEnqueueNDRangeKernel"], 20, "launches in the trace that was saved elsewhere")
        same([p.name for p in pathlib.Path("small").iterdir()], [], "left on the full disk")
    finally:
        run("umount", "small")


def refused(file, *words):
    for command in ((GTRACE, "show"), (GTRACE, "stats"), (GTRACE, "expand"), (GTRACE, "digest"), (GANALYZE,)):
        one_line(run(*command, file), INPUT, re.escape(file), *words)


def test_foreign_files():
    pathlib.Path("text.db").write_text("this is no trace\n" * 100)
    pathlib.Path("empty.db").write_bytes(b"")
    good("/usr/bin/python3", "-c", "import sqlite3; c = sqlite3.connect('other.db'); c.execute('create table t(a)'); c.commit()")
    for file in ("text.db", "empty.db", "other.db"):
        refused(file)
    for command in ((GTRACE, "show"), (GANALYZE,)):
        outcome = run(*command, "missing.db")
        check(outcome.code in (INPUT, ENVIRONMENT) and "missing.db" in outcome.err_text, "a missing file")
        check(run(*command).code in (USAGE, INPUT, ENVIRONMENT), "no trace here")


def test_truncated_traces():
    trace()
    whole = pathlib.Path("trace.db").read_bytes()
    for part in (16, 100, len(whole) // 3, len(whole) // 2, len(whole) - 4096):
        pathlib.Path("cut.db").write_bytes(whole[:part])
        refused("cut.db")


def edited(statement):
    """The trace with its schema or contents changed by SQL."""
    trace_copy = pathlib.Path("edited.db")
    trace_copy.write_bytes(pathlib.Path("trace.db").read_bytes())
    db = sqlite3.connect(trace_copy)
    db.executescript(statement)
    db.close()
    return str(trace_copy)


def test_missing_tables():
    trace()
    db = sqlite3.connect("trace.db")
    tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    db.close()
    for table in set(tables) - {"meta", "functions", "kinds"}:  # those are for people
        outcome = run(GTRACE, "stats", edited(f"DROP TABLE {table}"))
        one_line(outcome, INPUT, "edited.db", table)
    refused(edited("ALTER TABLE nodes DROP COLUMN kind"))
    refused(edited("DELETE FROM checks"))
    refused(edited("UPDATE shapes SET thread = 1000000"))


def test_a_trace_from_the_future():
    trace()
    future = edited("PRAGMA user_version = 1000")
    for command in ((GTRACE, "show"), (GTRACE, "digest"), (GANALYZE,)):
        one_line(run(*command, future), ENVIRONMENT, "newer gtrace")


def test_spools():
    for content in (b"", b"no spool" * 10, b"no spool" * 10000):
        pathlib.Path("bad.spool").write_bytes(content)
        one_line(run(GTRACE, "recover", "-o", "r.db", "bad.spool"), INPUT, "bad.spool")
    one_line(run(GTRACE, "recover", "-o", "r.db", "none.spool"), ENVIRONMENT, "none.spool")
    check(not pathlib.Path("r.db").exists(), "a trace of nothing")


def test_damaged_traces():
    """Any byte may be wrong: an answer or a refusal, never a crash."""
    trace()
    whole = pathlib.Path("trace.db").read_bytes()
    rng = random.Random(1)
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 8, 64))):
            damaged[rng.randrange(100, len(damaged))] = rng.randrange(256)
        pathlib.Path("damaged.db").write_bytes(damaged)
        for command in ((GTRACE, "expand"), (GTRACE, "show"), (GANALYZE,)):
            outcome = run(*command, "damaged.db")
            check(outcome.code in (0, INPUT, ENVIRONMENT), f"exit status {outcome.code}")


def test_profiles():
    bare = good(*VADD)
    trace()
    good(GANALYZE, "trace.db")
    profile = pathlib.Path("app_vadd.gprofile")
    right = profile.read_text()
    for wrong in ("", "no profile\n", right[:len(right) // 2] + "\nnonsense here = \n", "version = 999\n" + right,
                  "\0" * 1000):
        profile.write_text(wrong)
        outcome = run(GOPTIMIZE, "run", "--profile", profile, "--", *VADD, timeout=250)
        if outcome.code == 0:
            same(outcome.out, bare.out, "stdout with a bad profile")
        else:
            one_line(outcome, ENVIRONMENT if "999" in wrong else INPUT, "gprofile")
    one_line(run(GOPTIMIZE, "run", "--profile", "none.gprofile", "--", *VADD), INPUT, "none.gprofile")


def test_profile_of_another_program():
    good(GTRACE, "run", "-o", "t.db", "--", app("transpose"), "--width", 64, "--height", 64)
    good(GANALYZE, "t.db")
    bare = good(*VADD)
    outcome = run(GOPTIMIZE, "run", "--profile", "app_transpose.gprofile", "--", *VADD, timeout=250)
    same((outcome.code, outcome.out), (0, bare.out), "status and stdout")


main(globals())
