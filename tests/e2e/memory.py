#!/usr/bin/env python3
"""Every allocation function with its arguments and results, and who called it."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from job import *  # noqa: E402, F403

CALLS = tests_dir / "memory_calls"
WRAPPERS = tests_dir / "wrapper_job"
HUGE = (1 << 63) - 1
RW, PRIVATE, SHARED, ANONYMOUS = 3, 2, 1, 32

# $x stands for an object's name, the same wherever the same letter stands while it lives.
BLOCKS = [
    ("malloc", {"size": 100}, "$a"),
    ("realloc", {"ptr": "$a+0", "size": 200}, "$b"),
    ("reallocarray", {"ptr": "$b+0", "nmemb": 3, "size": 50}, "$c"),
    ("realloc", {"ptr": "$c+0", "size": HUGE}, None),
    ("free", {"ptr": "$c+0"}),
    ("free", {"ptr": None}),
    ("realloc", {"ptr": None, "size": 5}, "$d"),
    ("free", {"ptr": "$d+0"}),
    ("malloc", {"size": 9}, "$e"),
    ("realloc", {"ptr": "$e+0", "size": 0}, None),
    ("calloc", {"nmemb": 7, "size": 11}, "$f"),
    ("free", {"ptr": "$f+0"}),
    ("calloc", {"nmemb": HUGE, "size": 16}, None),
    ("memalign", {"alignment": 64, "size": 33}, "$g"),
    ("free", {"ptr": "$g+0"}),
    ("aligned_alloc", {"alignment": 32, "size": 96}, "$h"),
    ("free", {"ptr": "$h+0"}),
    ("posix_memalign", {"memptr": "$i", "alignment": 128, "size": 44}, 0),
    ("free", {"ptr": "$i+0"}),
    ("posix_memalign", {"memptr": [], "alignment": 3, "size": 45}, 22),
    ("valloc", {"size": 46}, "$j"),
    ("free", {"ptr": "$j+0"}),
    ("pvalloc", {"size": 47}, "$k"),
    ("free", {"ptr": "$k+0"}),
    ("malloc", {"size": 48}, "$l"),
    ("malloc_usable_size", {"ptr": "$l+0"}, 56),
    ("free", {"ptr": "$l+0"}),
]
STRINGS = [
    ("strdup", {"s": "?static"}, "$m"),
    ("free", {"ptr": "$m+0"}),
    ("strndup", {"s": "?stack", "n": 6}, "$n"),
    ("free", {"ptr": "$n+0"}),
    ("wcsdup", {"s": "?static"}, "$o"),
    ("free", {"ptr": "$o+0"}),
]


def mapping(length, prot, flags, fd):
    return {"addr": None, "length": length, "prot": prot, "flags": flags, "fd": fd, "offset": 0}


MAPPINGS = [
    ("mmap", mapping(8 * 4096, RW, PRIVATE | ANONYMOUS, -1), "$p"),
    ("munmap", {"addr": "$p+0", "length": 4096}, 0),
    ("munmap", {"addr": "$p+8192", "length": 4096}, 0),
    ("munmap", {"addr": "$p+4096", "length": 4096}, 0),
    ("munmap", {"addr": "$p+12288", "length": 5 * 4096}, 0),
    ("munmap", {"addr": "?unknown", "length": 4096}, -1),
    ("mmap", mapping(4096, RW, SHARED | ANONYMOUS, -1), "$q"),
    ("mremap", {"old_address": "$q+0", "old_size": 4096, "new_size": 12288, "flags": 1, "new_address": None}, "$r"),
    ("munmap", {"addr": "$r+0", "length": 12288}, 0),
    ("mmap", mapping(4096, 1, PRIVATE, 9999), None),
    ("mmap", mapping(4096, 1, PRIVATE, "?number"), "$s"),
    ("munmap", {"addr": "$s+0", "length": 4096}, 0),
]
BREAK = [
    ("sbrk", {"increment": 8192}, "$t"),
    ("sbrk", {"increment": -4096}),
    ("sbrk", {"increment": 0}),
    ("brk", {"increment": -4096, "memory": []}, 0),
]


def recorded(program, *names):
    """The memory calls that PROGRAM's own code made, as (call, args, return)."""
    lines = [json.loads(line) for line in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    own = [c for c in lines if re.match(re.escape(program) + r"\+0x", c["site"])]
    return [(c["call"], c["args"], *([c["return"]] if "return" in c else [])) for c in own]


def agrees(want, got, names):
    """Equal, with want's variables bound in `names`."""
    if isinstance(want, dict):
        return want.keys() == got.keys() and all(agrees(want[k], got[k], names) for k in want)
    if want == "?number":
        return isinstance(got, int)
    if isinstance(want, str) and want.startswith("?"):
        return isinstance(got, str)
    if isinstance(want, str) and isinstance(got, str):
        variable, _, offset = want.partition("+")
        name, _, at = got.partition("+")
        return names.setdefault(variable, name) == name and offset == at
    return want == got and isinstance(want, bool) == isinstance(got, bool)


def test_every_call_with_arguments_and_results():
    pathlib.Path("mapped.bin").write_bytes(b"x" * 5000)
    traced(CALLS, "mapped.bin")
    got, names = recorded("memory_calls"), {}
    want = BLOCKS + STRINGS + MAPPINGS + BREAK
    for i, (a, b) in enumerate(zip(want, got)):
        check(a[0] == b[0] and len(a) == len(b) and all(agrees(x, y, names) for x, y in zip(a[1:], b[1:])),
              f"call {i}:\n  want {a}\n  got  {b}\n  {names}")
    same(len(got), len(want), "calls")
    kinds = {v: re.match("[a-z]+", n)[0] for v, n in names.items()}
    check(kinds["$m"] == kinds["$n"] == kinds["$o"] != kinds["$a"], f"strings are no kind of their own: {kinds}")
    check(kinds["$s"] not in (kinds["$a"], kinds["$m"]), f"mapped files are no kind of their own: {kinds}")
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    same(stats["lost"]["undecodable_records"], 0, "records that made no sense")


def test_the_file_behind_a_mapping_is_known():
    pathlib.Path("mapped.bin").write_bytes(b"x" * 5000)
    traced(CALLS, "mapped.bin")
    out = good("sqlite3" if shutil.which("sqlite3") else sys.executable, *(
        ["trace.db"] if shutil.which("sqlite3") else ["-c", "import sqlite3,sys;"
         "[print(*r) for r in sqlite3.connect('trace.db').execute(sys.argv[1])]"]),
        "SELECT CAST(b.bytes AS TEXT) FROM classes c JOIN kinds k ON k.id = c.kind JOIN blobs b ON b.id = c.label "
        "WHERE k.name = 'file mapping'")
    same(out.text.split(), [os.path.realpath("mapped.bin")], "path")


def test_two_runs_agree():
    pathlib.Path("mapped.bin").write_bytes(b"x" * 5000)
    for name in ("a.db", "b.db"):
        traced(CALLS, "mapped.bin", file=name)
    same(good(GTRACE, "digest", "a.db").out, good(GTRACE, "digest", "b.db").out, "digest")


def allocations():
    """{site text: (function, calls)} of the large allocations of wrapper_job."""
    rows = good(GTRACE, "stats", "--json", "--top", "0", "trace.db").json["allocations"]
    return [r for r in rows if r["site"].startswith("wrapper_job+") and r["max_bytes"] >= 1 << 20]


def test_wrappers_are_told_apart():
    traced(WRAPPERS, "--steps", "4")
    rows = allocations()
    frames = {f: [r["site"].split(" < ") for r in rows if r["function"] == f]
              for f in ("malloc", "operator new", "calloc")}
    chained = [s for s in frames["malloc"] if len(s) > 1]
    same(len({s[0] for s in chained}), 1, "one wrapper")
    same((len(chained), {len(s) for s in chained}), (3, {2}), "its three uses, told by one caller each")
    same([s for s in frames["malloc"] if len(s) == 1 and s[0] == chained[0][0]], [], "nothing is left without a caller")
    same(len([s for s in frames["malloc"] if len(s) == 1]), 1, "a place with one use has no chain")
    same(len(frames["operator new"]), 2, "the vector grows in two places")
    check(all(len(s) > 1 for s in frames["operator new"]), "operator new's callers")
    same(len(frames["calloc"]), 1, "recursion does not make many sites of one")
    good(GTRACE, "digest", "trace.db")


def test_stacks_can_be_switched_off():
    run(GTRACE, "run", "--stacks", "0", "--", WRAPPERS)
    check(all(" < " not in r["site"] for r in allocations()), "frames without --stacks")


def test_length_does_not_matter():
    digests = set()
    for steps in (3, 9):
        traced(WRAPPERS, "--steps", steps)
        digests.add(good(GTRACE, "digest", "trace.db").out)
    same(len(digests), 1, "digests")


def test_the_analyzer_names_the_uses():
    traced(WRAPPERS)
    report = good(GANALYZE, "--json", "-o", "job.gprofile", "trace.db").json
    uses = {(a["site"]["function"], tuple(f["function"] for f in a["site"]["around"])) for a in report["allocations"]}
    for use in ("first_use", "second_use", "third_use"):
        check(any("xmalloc" in f and len(o) == 1 and use in o[0] for f, o in uses), f"{use} of xmalloc: {uses}")
    check(any("plain_use" in f and not o for f, o in uses), f"plain_use: {uses}")
    check(any(o and "other_vector_use" in o[-1] for _, o in uses), f"the vectors: {uses}")
    good(GANALYZE, "--check", "job.gprofile")
    text = good(GANALYZE, "-o", "job.gprofile", "--width", "200", "trace.db").text
    check(re.search(r"xmalloc.* < first_use", text), "the chain in the report")


def test_arrays_of_a_python_program_are_told_apart():
    if run("/usr/bin/python3", "-c", "import numpy, pyopencl").code != 0:
        raise Skip("python3-pyopencl is not installed")
    same(traced("/usr/bin/python3", pathlib.Path(__file__).parent / "clients" / "numpy_arrays.py").code, 0, "exit status")
    report = good(GANALYZE, "--json", "-o", "job.gprofile", "trace.db").json
    same(sorted(a["transfers"] for a in report["allocations"] if a["h2d"] >= 5 << 20), [5, 5, 5], "transfers of each")


main(globals())
