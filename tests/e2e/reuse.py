"""goptimize run --reuse always: blocks that are transferred again are pinned, exactly those, and nothing else changes."""

import json
import pathlib
import re

from job import RUN, app, check, good, main, run, same, tests_dir

REUSE = str(tests_dir / "optimizer" / "reuse")
RANDOM = str(tests_dir / "optimizer" / "random_transfers")
KIB, MIB = 1 << 10, 1 << 20


def reused(*command, stage="never", reuse="always"):
    done = run(*RUN, "--stage", stage, "--reuse", reuse, "--report", "r.json", "--", *command)
    return done, json.loads(pathlib.Path("r.json").read_text())


def compare(*command, **options):
    plain = good(*command)
    done, report = reused(*command, **options)
    same(done.code, 0, f"exit status of {command}: {done.err_text}")
    same(done.out, plain.out, "output")
    return report


def shape(name, blocks, transfers, size=None, fallbacks=None, program=REUSE):
    """Each block is pinned at its second transfer."""
    for stage in ("never", "always"):
        report = compare(program, name, stage=stage)
        found = report["reused"]
        same((found["blocks"], found["transfers"]), (blocks, transfers), f"{name}: blocks, transfers")
        same((report["pinned"]["ranges"], report["pinned"]["bytes"]), (blocks, found["bytes"]), "what is pinned in all")
        same(report["fallbacks"], fallbacks or {}, "fallbacks")
        if size is not None:
            same(found["bytes"], size, "bytes")


def test_one_block():
    shape("same", 1, 29, MIB)


def test_blocks_at_the_same_addresses():
    shape("anew", 40, 80, 10 * 1800000)


def test_realloc():
    shape("resize", 12, 24, 4 * 100000 + 200000 * (1 + 2 + 4 + 5 + 7 + 8 + 10 + 11))


def test_all_functions_that_give_blocks():
    shape("kinds", 7, 14, 7 * MIB)


def test_other_memory_is_left_alone():
    shape("others", 0, 0, 0)


def test_static_data():
    for program in (REUSE, REUSE + "_fixed", REUSE + "_no_relro"):
        shape("statics", 6, 12, 400000 + (1 + 2 + 2 + 3 + 1) * MIB, program=program)


def test_mapping_over_static_data():
    shape("remapped", 2, 4 + 3, 2 * MIB)


def test_memory_that_was_never_touched():
    shape("sparse", 0, 0, 0, {"sparse_memory": 11})


def test_threads():
    shape("threads", 120, 240)


def test_fork():
    shape("forks", 1, 5, MIB)


def test_blocks_that_are_freed_inside_the_driver():
    shape("callbacks", 40, 80, 40 * MIB)


def test_pages_that_are_given_back():
    shape("pages", 1, 2, MIB)


def test_deep_bound_library():
    shape("deep", 11, 5 + 20, 11 * MIB)


def test_deep_bound_library_whose_frees_pass_us_by():
    for stage in ("never", "always"):
        plain = good(REUSE, "deep")
        done, report = reused("env", "-u", "GTRACE_OPT_LIBC_ENTRIES", REUSE, "deep", stage=stage)
        same((done.code, done.out), (0, plain.out), "exit status and output")
        same(report["reused"]["blocks"], 1, "blocks that were pinned before")
        same(report["fallbacks"], {"deep_bind": 1}, "fallbacks")


def test_contexts_that_go():
    shape("contexts", 3, 8, 3 * MIB)


def test_the_end_of_the_process():
    shape("at_exit", 1, 2, MIB)


def test_random_programs():
    pinned = 0
    for seed in range(4):
        for stage in ("never", "always"):
            pinned += compare(RANDOM, seed, 100, stage=stage)["reused"]["blocks"]
        compare(RANDOM, seed, 40, 3)
    check(pinned > 20, f"only {pinned} pinned")


def test_programs():
    for name in ("vadd", "transpose", "nn", "stencil", "sad", "spmv"):
        compare(app(name), stage="always")


def test_never():
    done, report = reused(REUSE, "same", reuse="never")
    same((done.code, report["injected"], report["reused"]["blocks"]), (0, False, 0), "nothing happens")
    report = compare(REUSE, "same", stage="always", reuse="never")
    same((report["reused"]["blocks"], report["staged"]["transfers"]), (0, 30), "staged only")


def test_says_what_was_pinned():
    done, _ = reused(REUSE, "same")
    check(re.search(r"pinned on reuse: 1 blocks of 1\.0 MiB, 29 transfers", done.err_text), done.err_text)


main(globals())
