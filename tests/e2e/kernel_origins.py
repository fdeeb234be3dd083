#!/usr/bin/env python3
"""Kernels without a source have the arguments that the driver knows; a place that makes kernels of several programs
stands for all of them.

Usage: kernel_origins.py BUILD
"""

import sqlite3

from job import *  # noqa: F403

PROGRAM = tests_dir / "kernel_origins"


def kernels_of(mode):
    same(traced(PROGRAM, mode).code, 0, "exit status")
    return good(GANALYZE, "--json", "trace.db").json["kernels"]


def accesses(kernel):
    return [(a["name"], a["address_space"], a["access"]) for a in kernel["args"]]


def test_a_kernel_from_a_binary_is_as_it_was_declared():
    kernels = kernels_of("binary")
    same(len(kernels), 1, "kernels")
    kernel = kernels[0]
    same((kernel["name"], kernel["launches"], kernel["exact"]), ("copy", 1, False), "the kernel")
    if not kernel["args"]:
        raise Skip("the driver does not know the arguments of kernels from binaries")
    same(accesses(kernel), [("from", "global", "read"), ("to", "global", "read_write"), ("factor", "private", "none")],
         "arguments")
    same(kernel["defines"], [1], "defined arguments")


def test_headers_lie_where_the_program_was_started():
    """Here is another header of that name, which the program has never seen."""
    pathlib.Path("job").mkdir()
    pathlib.Path("job/move.h").write_text("#define MOVE(to, from) (to)[get_global_id(0)] = (from)[get_global_id(0)]\n")
    pathlib.Path("move.h").write_text("#define MOVE(to, from)\n")
    same(traced(PROGRAM, "includes", file="../trace.db", cwd="job").code, 0, "exit status")
    report = good(GANALYZE, "--json", "trace.db").json
    same(report["remote"]["features"], [], "headers go along to remote devices by themselves")
    kernel, = report["kernels"]
    same((kernel["exact"], kernel["note"]), (True, ""), "the kernel is understood")
    same([access for _, _, access in accesses(kernel)], ["read", "write", "none"], "what it does")
    pathlib.Path("job").rename("elsewhere")  # analysed where the program's folder is not: includes are looked for here
    same(accesses(good(GANALYZE, "--json", "trace.db").json["kernels"][0])[1][2], "none", "by the header here")


def test_one_place_may_make_kernels_of_several_programs():
    kernels = kernels_of("variants")
    same(sorted(accesses(k)[0][2] for k in kernels), ["read", "write"], "what is done to the first argument")
    same([k["name"] for k in kernels], ["copy", "copy"], "names")
    # The view of trace.db counts each launch once.
    db = sqlite3.connect("file:trace.db?mode=ro", uri=True)
    same(db.execute("SELECT name, launches FROM kernel_time").fetchall(), [("copy", 2)], "launches")


main(globals())
