"""goptimize run --pages: large blocks get huge pages, contents stay, and who touches little grows by little."""

import json
import pathlib
import re

from job import GOPTIMIZE, Skip, check, good, main, run, same, tests_dir

PROGRAM, HEAP = str(tests_dir / "page_use"), str(tests_dir / "heap_use")
MODE = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
ON_REQUEST = MODE.exists() and "[madvise]" in MODE.read_text()
MIB = 1 << 20
MOST_GROWTH = 64 * MIB


def most(done):
    return int(re.search(r"most KiB: (\d+)", done.err_text)[1]) << 10


def both(way, *options, before=()):
    """The program by itself and under goptimize: the same output. Gives the memory that each had, and the report."""
    native = good(*before, PROGRAM, way)
    ours = good(*before, GOPTIMIZE, "run", "--measure-seconds", "0", *options, "--report", "r.json", "--", PROGRAM, way)
    same(ours.out, native.out, f"{way}: what it read")
    return most(native), most(ours), json.loads(pathlib.Path("r.json").read_text())


def test_blocks_that_are_filled():
    for way in ("fill", "threads"):
        native, ours, report = both(way)
        check(ours <= native + max(MOST_GROWTH, native // 20), f"{way}: {ours} of {native}")
        if ON_REQUEST:
            check(report["huge_pages"]["blocks"] > 0 and report["huge_pages"]["bytes"] > 64 * MIB, report["huge_pages"])
            check(0.8 * report["huge_pages"]["bytes"] <= report["huge_pages"]["filled_bytes"], report["huge_pages"])
            check(report["huge_pages"]["saved_s"] > 0 and "as estimated" in report["outcome"], report["outcome"])
            check("fresh large blocks get huge pages" in report["decision"], report["decision"])


def test_blocks_of_which_little_is_touched():
    for way in ("sparse", "blocks"):
        native, ours, report = both(way)
        check(ours <= native + MOST_GROWTH + 8 * MIB, f"{way}: {ours} of {native}")  # 8 MiB: what else is ours
        check(report["huge_pages"]["bytes"] <= 2 * MOST_GROWTH, report["huge_pages"])
        same(report["huge_pages"]["filled_bytes"], 0, f"{way}: nothing was filled")


def test_what_the_program_does_to_its_pages():
    for way in ("fork", "advice", "little-room"):
        both(way)


def test_never():
    native, ours, report = both("fill", "--pages", "never")
    same(report["huge_pages"], dict.fromkeys(("blocks", "bytes", "filled_bytes", "kept_blocks", "kept_bytes", "saved_s"), 0), "no advice")
    same(report["injected"], False, "for that alone nothing is injected")


def test_beside_the_c_librarys_own():
    _, _, report = both("fill", before=("env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"))
    check(not ON_REQUEST or report["huge_pages"]["blocks"] > 0, report["huge_pages"])


def of_heap(way, *options):
    """The same for the C library's heap, which gets room where its entries are led to us, as for memory that may be pinned."""
    native = good(HEAP, way)
    ours = good(GOPTIMIZE, "run", "--measure-seconds", "0", "--reuse", "always", *options, "--report", "r.json", "--", HEAP, way)
    same(ours.out, native.out, f"{way}: what it read")
    check(most(ours) <= most(native) + MOST_GROWTH + 8 * MIB, f"{way}: {most(ours)} of {most(native)}")
    faults = [int(re.search(r"faults: (\d+)", done.err_text)[1]) for done in (native, ours)]
    return *faults, json.loads(pathlib.Path("r.json").read_text())["huge_pages"]


def test_heap_of_small_blocks():
    native, ours, pages = of_heap("small")
    if ON_REQUEST:
        check(ours < native // 3, f"{ours} faults, natively {native}")
        check(pages["filled_bytes"] > 100 * MIB, pages)
    native, ours, pages = of_heap("small", "--pages", "never")
    check(ours > native - 2000 and pages["bytes"] == 0, f"{ours} faults, natively {native}: {pages}")


def test_heap_of_which_little_is_touched():
    check(of_heap("sparse")[2]["filled_bytes"] <= MOST_GROWTH, "nothing vouches for it")


def test_heap_that_others_move():
    for way in ("breaks", "limited", "children"):
        of_heap(way)


def test_bad_value():
    done = run(GOPTIMIZE, "run", "--pages", "always", "--", PROGRAM, "fill")
    same(done.code, 2, "a usage error")


main(globals())
