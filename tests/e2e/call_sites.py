#!/usr/bin/env python3
"""Call sites of stripped programs, of programs whose debug information is elsewhere, damaged or wrong.

Usage: call_sites.py BUILD
"""

from job import *  # noqa: F403

VADD = ["--elements", "1000000", "--iterations", "3"]


def analyzed(program, *arguments, name="trace.db"):
    same(traced(program, *arguments, file=name).code, 0, "exit status")
    return good(GANALYZE, "--json", "-o", name + ".gprofile", name).json


def offsets(report):
    return sorted((a["call"], a["site"]["offset"], a["bytes"]) for a in report["allocations"])


def stripped(program):
    """A copy here without symbols and debug information: the same code under the same build-id."""
    needs("strip", "objcopy")
    copy = pathlib.Path("stripped_" + pathlib.Path(program).name).resolve()
    good("strip", "-o", copy, program)
    return copy


def optimized(program, profile):
    good(GOPTIMIZE, "run", "--profile", profile, "--report", "report.json", "--force-policy", "pin", "--", program, *VADD)
    report = json.loads(pathlib.Path("report.json").read_text())
    return sorted((s["allocations"], s["bytes"], s["hits"]) for s in report["sites"] if s["allocations"])


def test_a_stripped_program_has_the_same_sites():
    bare = stripped(app("vadd"))
    whole, nameless = analyzed(app("vadd"), *VADD), analyzed(bare, *VADD, name="bare.db")
    same(offsets(nameless), offsets(whole), "offsets")
    for a in whole["allocations"]:
        same(a["site"]["named_by"], "debug information", "names of the whole program")
        check(a["site"]["line"] > 0, f"no line in {a['site']}")
    for a in nameless["allocations"]:
        same((a["site"]["named_by"], a["site"]["line"]), ("", 0), "names of the stripped program")
        check(a["site"]["call"] in ("library", "direct"), f"the call instruction: {a['site']}")
    check(f"{bare.name}+0x" in good(GANALYZE, "bare.db").text, "module and offset in the report")


def test_the_optimizer_finds_them():
    bare = stripped(app("vadd"))
    analyzed(app("vadd"), *VADD)
    analyzed(bare, *VADD, name="bare.db")
    want = [(1, 4000000, 3)] * 3
    same(optimized(bare, "bare.db.gprofile"), want, "a stripped program by its own profile")
    same(optimized(bare, "trace.db.gprofile"), want, "a stripped program by the whole one's profile")
    same(optimized(app("vadd"), "bare.db.gprofile"), want, "a whole program by the stripped one's profile")


def test_debug_information_in_a_file_of_its_own():
    program = tests_dir / "known_sources"
    bare = stripped(program)
    good("objcopy", "--only-keep-debug", program, "names.debug")
    good("objcopy", "--add-gnu-debuglink=names.debug", bare)
    report = analyzed(bare)
    lines = {a["site"]["line"] for a in report["allocations"]}
    check(all(a["site"]["named_by"] == "debug information" for a in report["allocations"]) and 0 not in lines,
          "names from the file beside the program")
    pathlib.Path(".debug").mkdir()
    os.rename("names.debug", ".debug/names.debug")
    again = good(GANALYZE, "--json", "trace.db").json
    same({a["site"]["line"] for a in again["allocations"]}, lines, "lines, by the file in .debug")
    os.remove(".debug/names.debug")
    gone = good(GANALYZE, "--json", "trace.db").json
    same({a["site"]["named_by"] for a in gone["allocations"]}, {""}, "names without the file")
    good("objcopy", "--only-keep-debug", app("vadd"), "names.debug")
    wrong = good(GANALYZE, "--json", "trace.db").json
    same({a["site"]["named_by"] for a in wrong["allocations"]}, {""}, "names by another program's file")
    same(offsets(wrong), offsets(report), "offsets, whatever names there are")


def test_modules_that_are_gone_changed_or_damaged():
    program = shutil.copy(app("vadd"), "program")
    whole = pathlib.Path(program).read_bytes()
    report = analyzed("./program", *VADD)
    for contents, words in ((None, "gone"), (pathlib.Path(app("sgemm")).read_bytes(), "changed"),
                            (whole[: len(whole) // 2], ""), (b"\x7fELF", "damaged"), (b"", "damaged")):
        os.remove(program) if contents is None else pathlib.Path(program).write_bytes(contents)
        outcome = good(GANALYZE, "--json", "trace.db")
        same(outcome.err_text, "", "standard error")
        same(offsets(outcome.json), offsets(report), f"offsets when the module is {words}")
        for a in outcome.json["allocations"]:
            check(words in a["site"]["problem"], f"not '{words}': {a['site']['problem']}")
    check("damaged" in good(GANALYZE, "trace.db").text, "the report says what is wrong")


main(globals())
