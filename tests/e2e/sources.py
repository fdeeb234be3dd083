#!/usr/bin/env python3
"""Where ganalyze says that transfers come from and go to, against a program that counts for itself.

Usage: sources.py BUILD
"""

from job import *  # noqa: F403

PROGRAM = tests_dir / "known_sources"


def analyzed():
    """The program's own count and the report of its trace."""
    pathlib.Path("mapped.bin").write_bytes(b"x" * 4096)
    outcome = traced(PROGRAM, "mapped.bin")
    same(outcome.code, 0, "exit status")
    own = dict(line.rsplit(": ", 1) for line in outcome.text.splitlines())
    return ({k: [int(n) for n in v.split()] for k, v in own.items()},
            good(GANALYZE, "--json", "-o", "job.gprofile", "trace.db").json)


def short(function):
    return function.split("(anonymous namespace)::")[-1].split("(")[0]


def place(source):
    if source["kind"] in ("stack", "static data", "file mapping"):
        return source["kind"]
    return " < ".join(short(s["function"]) for s in [source["site"], *source["site"]["around"]])


def counted(source):
    return [source["h2d_transfers"], source["h2d"], source["d2h_transfers"], source["d2h"],
            source["in_place"]["buffers"], source["in_place"]["bytes"]]


def test_every_source_exactly():
    own, report = analyzed()
    sources = report["allocations"] + report["other_sources"]
    found = {place(s): counted(s) for s in sources}
    same(len(found), len(sources), "places listed twice")
    for where in sorted(own.keys() | found.keys()):
        same(found.get(where), own.get(where), f"transfers and bytes of {where}")
    for s in sources:
        same(sum(b["count"] for b in s["transfer_sizes"]["histogram"]), s["transfers"], f"sizes of {place(s)}")


def test_calls_and_kinds():
    _, report = analyzed()
    made_by = {place(s): s["call"] for s in report["allocations"]}
    for where, call in {"from_malloc": "malloc", "from_calloc": "calloc", "from_new": "operator new[]",
                        "from_posix_memalign": "posix_memalign", "from_mmap": "mmap", "from_strdup": "strdup",
                        "grown": "realloc", "wrapped < first_use": "malloc"}.items():
        same(made_by.get(where), call, f"what allocates in {where}")
    others = {place(s): s for s in report["other_sources"]}
    same(others["pinned_buffer"]["kind"], "mapping", "a buffer that is mapped")
    same(others["pinned_buffer"]["call"], "clCreateBuffer", "what made it")
    same(others["migrated_buffer"]["kind"], "buffer", "a buffer that is migrated")
    same(others["file mapping"]["path"], os.path.realpath("mapped.bin"), "the mapped file")
    check(all("CL_MEM_USE_HOST_PTR" in others[k]["remedy"] for k in ("stack", "static data", "file mapping")),
          "on a device that works in the host's memory, a buffer over it")


def test_growth_is_followed():
    _, report = analyzed()
    grown = {place(s): {short(o["site"]["function"]) for o in s["grown_from"]} for s in report["allocations"]}
    same(grown["grown"], {"first_block"}, "what `grown` grew from")
    same(grown["grown_again"], {"first_block", "grown"}, "what `grown_again` grew from")
    same(grown["from_malloc"], set(), "memory that did not grow")


def test_each_call_names_its_segments():
    _, report = analyzed()
    lists = {k: report[k] for k in ("allocations", "other_sources")}
    sums = {k: [0] * len(v) for k, v in lists.items()}
    for t in report["transfers"]:
        source = lists[t["memory"]["list"]][t["memory"]["index"]]
        sums[t["memory"]["list"]][t["memory"]["index"]] += t["bytes"]
        check(t["segments"], f"{t['call']} of {place(source)} names no segment")
        for s in t["segments"]:
            made = s["first_version"].startswith(s["name"] + ".")
            same(made, source["kind"] not in ("stack", "static data"), f"did a call make {s} of {place(source)}")
    for k, v in lists.items():
        same(sums[k], [s["bytes"] for s in v], f"bytes of {k}, call by call")


def test_the_profile_has_what_can_be_replaced():
    analyzed()
    good(GANALYZE, "--check", "job.gprofile")
    text = pathlib.Path("job.gprofile").read_text()
    check("from_malloc" in text and "pinned_buffer" not in text and "of_svm" not in text, "sites of the profile")


def test_a_program_that_is_gone_is_said_once():
    """It has many places that allocate."""
    shutil.copy(PROGRAM, "gone")
    pathlib.Path("mapped.bin").write_bytes(b"x" * 4096)
    same(traced("./gone", "mapped.bin").code, 0, "exit status")
    os.remove("gone")
    report = good(GANALYZE, "--width", 400, "-o", "job.gprofile", "trace.db").text
    same(report.count("the file is gone or cannot be read"), 1, "lines about the file")
    check(re.search(r", and \d+ more: .*/gone: the file is gone", report), report)


main(globals())
