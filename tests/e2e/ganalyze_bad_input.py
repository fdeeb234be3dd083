#!/usr/bin/env python3
"""Whatever is wrong with what ganalyze reads or writes: clear words, what can be said all the same, right exit status.

Usage: ganalyze_bad_input.py BUILD
"""

import pathlib
import random
import sqlite3

from job import *  # noqa: F403

VADD = (app("vadd"), "--elements", 4096, "--iterations", 20)
# Every way to use ganalyze on one trace.
USES = ((GANALYZE,), (GANALYZE, "--json"), (GANALYZE, "--query", "calls"), (GANALYZE, "diff", "good.db"),
        (GANALYZE, "good.db"))
_kept = {}


def trace(file="trace.db", *flags, command=VADD):
    """A recording of vadd, made once for each set of flags."""
    key = (flags, command)
    if key not in _kept:
        same(run(GTRACE, "run", *flags, "-o", "kept.db", "--", *command).code, 0, "exit status")
        _kept[key] = pathlib.Path("kept.db").read_bytes()
        os.remove("kept.db")
    pathlib.Path(file).write_bytes(_kept[key])
    return file


def edited(statement):
    trace("edited.db")
    db = sqlite3.connect("edited.db")
    db.executescript(statement)
    db.close()
    return "edited.db"


def explained(file, *words):
    """The report says what it lacks; JSON has the keys that others build on; the profile is valid."""
    text = good(GANALYZE, "-o", "p.gprofile", file).text
    for word in words:
        check(re.search(word, " ".join(text.split()), re.I), f"no '{word}' in the report")
    result = good(GANALYZE, "--json", "-o", "p.gprofile", file).json
    keys(result, "dispatch_ratio", "eligible", "allocations", "kernels", "findings", "remote")
    good(GANALYZE, "--check", "p.gprofile")
    same(run(GANALYZE, "diff", file, file).code, 0, "a trace and itself")
    good(GANALYZE, "--json", "-o", "p.gprofile", file, file)
    return result


def test_outputs_that_would_cost_something():
    """A trace or a program under the name of an output stays what it is, also behind a link."""
    trace("good.db")
    os.symlink("good.db", "link.db")
    shutil.copy("/bin/true", "program")
    for option in ("-o", "--html"):
        for file in "good.db", "link.db", "program":
            before = pathlib.Path(file).read_bytes()
            check("not replaced" in run(GANALYZE, option, file, "good.db").err_text, f"{option} {file}")
            same(pathlib.Path(file).read_bytes(), before, f"{file} after {option}")
    one_line(run(GANALYZE, "-o", "same", "--html", "same", "good.db"), USAGE, "same file")


def test_settings_that_cannot_be():
    """One line and the status of wrong usage, before anything is read or written."""
    trace("good.db")
    for options, word in ((("--min-ratio", "nan"), "ratio"), (("--min-ratio", "inf"), "ratio"), (("--min-ratio", "-1"), "ratio"),
                          (("--csv",), "--query"), (("--html", "p.html", "--query", "calls"), "--html or --query"),
                          (("--query", ""), "--query"), (("--link", ""), "--link"), (("--platform", ""), "--platform"),
                          (("-o", ""), "--profile"), (("--width", "0"), "--width"), (("-o", "-"), "standard output"),
                          (("--html", "-"), "standard output"), (("--check", "good.gprofile"), "--check"),
                          (("--query", "calls", "good.db"), "one trace"), (("--html", "p.html", "good.db"), "one trace")):
        one_line(run(GANALYZE, *options, "good.db"), USAGE, re.escape(word))
    for options in ("--min-ratio", "nan"), ("--width", "0"), ("--platform", ""):
        one_line(run(GANALYZE, "diff", *options, "good.db", "good.db"), USAGE, options[0])
    same(sorted(p.name for p in pathlib.Path(".").iterdir()), ["good.db"], "files")


def test_names_are_as_a_shell_takes_them():
    name = "a  b's $(x).db"
    trace(name)
    text = good(GANALYZE, name).text
    (hint,) = re.findall(r"With pictures: (ganalyze .*) --html report.html", text)
    same(subprocess.run(["sh", "-c", f"printf '%s\\n' {hint}"], capture_output=True, text=True).stdout,
         f"ganalyze\n{name}\n", "the words of the command")


def test_a_run_without_transfers_keeps_what_was_learnt():
    trace("good.db")
    kept = {"XDG_DATA_HOME": os.path.abspath("kept")}
    good(GANALYZE, "good.db", env=kept)
    (copy,) = pathlib.Path("kept/gtrace/profiles").iterdir()
    before = copy.read_text()
    check("[site]" in before, "the profile has no site")
    run(GTRACE, "run", "-o", "failed.db", "--", *VADD, "--platform", 99)
    good(GANALYZE, "failed.db", env=kept)
    same(copy.read_text(), before, "the kept profile")


def test_wrong_files():
    trace("good.db")
    pathlib.Path("text.db").write_text("no trace\n" * 100)
    pathlib.Path("empty.db").write_bytes(b"")
    pathlib.Path("cut.db").write_bytes(pathlib.Path("good.db").read_bytes()[:9000])
    sqlite3.connect("other.db").executescript("CREATE TABLE t(a);")
    for use in USES:
        for file in "text.db", "empty.db", "cut.db", "other.db":
            one_line(run(*use, file), INPUT, file)
        one_line(run(*use, "missing.db"), ENVIRONMENT, "missing.db")
        one_line(run(*use, "."), ENVIRONMENT, "directory")
        one_line(run(*use, edited("PRAGMA user_version = 1000")), ENVIRONMENT, "newer gtrace")
        one_line(run(*use, edited("DELETE FROM nodes")), INPUT, "nodes")
    same(list(pathlib.Path(".").glob("*.gprofile")), [], "profiles of nothing")


def test_damaged_traces():
    trace("good.db")
    whole = bytearray(pathlib.Path("good.db").read_bytes())
    rng = random.Random(3)
    for round in range(15):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 8, 64))):
            damaged[rng.randrange(100, len(damaged))] = rng.randrange(256)
        pathlib.Path("damaged.db").write_bytes(damaged)
        outcome = run(*USES[round % len(USES)], "damaged.db")
        check(outcome.code in (0, INPUT, ENVIRONMENT), f"exit status {outcome.code}")


def test_usage():
    trace()
    one_line(run(GANALYZE, "--min-ratio", "much", "trace.db"), USAGE, "much")
    one_line(run(GANALYZE, "diff", "trace.db"), USAGE)
    one_line(run(GANALYZE, "diff", "--top", "x", "trace.db", "trace.db"), USAGE)
    one_line(run(GANALYZE, "--query", "calls", "trace.db", "trace.db"), USAGE, "one trace")
    one_line(run(GANALYZE, "--html", "p.html", "trace.db", "trace.db"), USAGE, "one trace")
    one_line(run(GANALYZE, "--platform", "none.json", "trace.db"), ENVIRONMENT, "none.json")
    pathlib.Path("p.json").write_text("{}")
    one_line(run(GANALYZE, "--platform", "p.json", "trace.db"), INPUT, "p.json")
    good(GANALYZE, "diff", "--help")
    check("ganalyze diff" in good(GANALYZE, "--help").text, "no word about diff in --help")


def test_no_trace_here():
    one_line(run(GANALYZE), USAGE, "gtrace run")


def test_without_opencl():
    trace("true.db", command=("/bin/true",))
    result = explained("true.db", "no OpenCL calls")
    same((result["eligible"], result["allocations"], result["kernels"]), (False, [], []), "nothing")


def test_without_timings():
    trace("untimed.db", "--timing", "off")
    result = explained("untimed.db", "not timed", "--timing all")
    same((result["dispatch_ratio"], result["eligible"]), (None, False), "ratio")
    same(len(result["allocations"]), 3, "allocations are known all the same")
    check(all(a["untimed"] == a["transfers"] and a["h2d"] + a["d2h"] > 0 for a in result["allocations"]), "bytes")


def test_without_transfers():
    trace("kernels.db", "--timing", "kernels")
    result = explained("kernels.db", "no data that was timed")
    same((result["dispatch_ratio"], result["eligible"]), (0, False), "ratio")


def test_without_kernels():
    trace("transfers.db", "--timing", "transfers")
    result = explained("transfers.db", "infinite")
    same((result["dispatch_ratio"], result["eligible"]), (None, True), "ratio")
    check("inf" in pathlib.Path("p.gprofile").read_text(), "an infinite ratio in the profile")


def test_without_memory_calls():
    trace("plain.db", "--no-alloc")
    result = explained("plain.db", "unknown")
    check("[staging]" in pathlib.Path("p.gprofile").read_text(), "no staging advice for memory of unknown origin")
    same(result["allocations"], [], "allocations")


def test_missing_and_changed_modules():
    shutil.copy(app("vadd"), "program")
    good(GTRACE, "run", "-o", "trace.db", "--", "./program", *VADD[1:])
    known = good(GANALYZE, "--json", "trace.db").json
    os.remove("program")
    gone = good(GANALYZE, "--json", "trace.db").json
    offsets = [sorted(a["site"]["offset"] for a in r["allocations"]) for r in (known, gone)]
    same(*offsets, "offsets without the file")
    check(all("gone" in a["site"]["problem"] for a in gone["allocations"]), "not said that the file is gone")
    check("program+0x" in good(GANALYZE, "trace.db").text, "module and offset")
    check("not on this machine" in good(GANALYZE, "--check", "program.gprofile").err_text, "a profile of a missing program")
    shutil.copy("/bin/true", "program")
    check("changed" in good(GANALYZE, "trace.db").text, "not said that the file has changed")
    check("build-id" in good(GANALYZE, "--check", "program.gprofile").err_text, "a profile of a changed program")


def test_closed_standard_files():
    trace()
    for closed in (">&-", "<&- >&-", "<&- >&- 2>&-"):
        for command in (f"{GANALYZE} trace.db", f"{GANALYZE} --query calls trace.db", f"{GANALYZE} diff trace.db trace.db",
                        f"{GANALYZE} --check app_vadd.gprofile"):
            outcome = run("sh", "-c", f"{command} {closed}")
            same(outcome.code, ENVIRONMENT, f"exit status of {command} {closed}")
            if "2>" not in closed:
                one_line(outcome, ENVIRONMENT, "standard output")
        good(GANALYZE, "--check", "app_vadd.gprofile")  # nothing of the report went into it
    same(run("sh", "-c", f"{GANALYZE} trace.db <&- >/dev/null").code, 0, "without standard input")


def test_a_full_output():
    trace()
    for command in ("trace.db", "--json trace.db", "--query calls trace.db", "diff trace.db trace.db", "--query list"):
        one_line(run("sh", "-c", f"{GANALYZE} {command} >/dev/full"), ENVIRONMENT, "standard output.*no space")


def test_a_reader_that_goes_away():
    trace()
    for command in ("trace.db", "--json trace.db", "--query calls trace.db", "diff trace.db trace.db"):
        outcome = run("bash", "-c", f"{GANALYZE} {command} | true; exit ${{PIPESTATUS[0]}}")
        same((outcome.code, outcome.err_text), (0, ""), f"ganalyze {command} | true")
    good(GANALYZE, "--check", "app_vadd.gprofile")


def test_a_device_as_profile():
    trace()
    one_line(run(GANALYZE, "-o", "/dev/full", "trace.db"), ENVIRONMENT, "profile was not written", "no space")
    check(pathlib.Path("/dev/full").is_char_device(), "/dev/full was replaced")
    check("version = 2" in run("sh", "-c", f"{GANALYZE} -o /dev/stderr trace.db >/dev/null").err_text, "a profile on stderr")
    os.mkdir("folder")
    one_line(run(GANALYZE, "-o", "folder", "trace.db"), ENVIRONMENT, "directory")
    one_line(run(GANALYZE, "-o", "no/where.gprofile", "trace.db"), ENVIRONMENT, "no/where.gprofile")
    os.symlink("real.gprofile", "link.gprofile")
    pathlib.Path("real.gprofile").write_text("old")
    good(GANALYZE, "-o", "link.gprofile", "trace.db")
    check(os.path.islink("link.gprofile") and "version = 2" in pathlib.Path("real.gprofile").read_text(), "through a link")


def test_a_full_disk():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    trace()
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "small").code != 0:
        raise Skip("mounting is not permitted here")
    try:
        pathlib.Path("small/fill").write_bytes(b"x" * 4096)
        outcome = run(GANALYZE, "-o", "small/p.gprofile", "trace.db")
        one_line(outcome, ENVIRONMENT, "profile was not written", "no space")
        check("Dispatch ratio" in outcome.text, "the report is there all the same")
        same([p.name for p in pathlib.Path("small").iterdir()], ["fill"], "left on the full disk")
    finally:
        run("umount", "small")


def as_nobody():
    if os.geteuid() != 0:
        return ()
    needs("setpriv")
    command = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    if run(*command, GANALYZE, "--version").code != 0:
        raise Skip("another user cannot reach the build folder")
    return command


def test_an_unwritable_folder():
    nobody = as_nobody()
    trace()
    os.chmod(".", 0o555 if not nobody else 0o755)
    try:
        outcome = run(*nobody, GANALYZE, "trace.db", env={"XDG_DATA_HOME": os.path.abspath("no")})
        one_line(outcome, ENVIRONMENT, "profile was not written", "permission denied")
        check("Dispatch ratio" in outcome.text, "the report is there all the same")
        outcome = run(*nobody, GANALYZE, "--query", "calls", "trace.db")
        same(outcome.code, 0, "questions need no writing")
    finally:
        os.chmod(".", 0o755)


def test_no_room_for_the_copy():
    trace()
    pathlib.Path("file").write_text("")
    outcome = good(GANALYZE, "trace.db", env={"XDG_DATA_HOME": os.path.abspath("file")})
    one_line(outcome, 0, "warning: no copy of the profile")


main(globals())
