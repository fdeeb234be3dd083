"""Huge pages and programs that look after their pages: the same output as natively, and growth within the bound."""

import json
import pathlib
import re
import resource

from job import GOPTIMIZE, Skip, check, good, main, run, same, tests_dir
from memory_cgroup import memory_cgroup

CARE, USE = str(tests_dir / "page_care"), str(tests_dir / "page_use")
MODE = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
ON_REQUEST = MODE.exists() and "[madvise]" in MODE.read_text()
MIB = 1 << 20
OURS = 8 * MIB  # the library, its threads, what it counts


def numbers(done):
    """What the program said of its memory, in bytes."""
    return {what: int(kib) << 10 for what, kib in re.findall(r"^([a-z' ]+) KiB: (\d+)$", done.err_text, re.M)}


def both(program, way, **options):
    """Natively and under goptimize: the same output, and of everything that was counted no more than the bound more."""
    native = run(program, way, **options)
    if native.code == 77:
        raise Skip("the system does not let a program handle faults here")
    same(native.code, 0, f"{way}: natively")
    ours = good(GOPTIMIZE, "run", "--measure-seconds", "0", "--report", "r.json", "--", program, way, **options)
    same(ours.text, native.text, way)
    theirs, here = numbers(native), numbers(ours)
    same(sorted(here), sorted(theirs), way)
    for what, n in theirs.items():
        most = n + max(64 * MIB, n // 20) + OURS
        check(here[what] <= most, f"{way}, {what}: {here[what] >> 10} KiB of {n >> 10}, at most {most >> 10}")
    return here, json.loads(pathlib.Path("r.json").read_text())["huge_pages"]


def advised(pages, least=1):
    check(not ON_REQUEST or pages["bytes"] >= least, f"there was something to try: {pages}")


def test_pages_that_the_program_counts():
    advised(both(CARE, "count")[1], 64 * MIB)


def test_children_that_write():
    """One byte in each huge page of what they inherit: the system copies pages of 4 KiB."""
    here, pages = both(CARE, "fork")
    advised(pages, 128 * MIB)
    check(here["child"] <= 8 * MIB, f"the child copied {here['child']} bytes")


def test_pages_kept_from_children():
    advised(both(CARE, "no-fork")[1])


def test_the_programs_own_advice():
    advised(both(CARE, "no-huge")[1])


def test_pages_that_are_given_back():
    advised(both(CARE, "give-back")[1], 128 * MIB)


def test_blocks_that_come_again_and_are_hardly_touched():
    advised(both(CARE, "again")[1], 128 * MIB)


def test_blocks_that_come_again_and_again():
    """They keep their pages while they do, and no longer."""
    here, pages = both(CARE, "loops")
    if ON_REQUEST:
        check(pages["kept_blocks"] >= 24, f"kept: {pages}")
    check(here["after the loop"] < 32 * MIB, f"{here['after the loop']} bytes are still there")


def test_nothing_is_kept_under_limits():
    for what in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        same(both(CARE, "loops", **limit(what, 4096 * MIB))[1]["kept_blocks"], 0, "kept under a limit")


def test_large_reservations():
    advised(both(CARE, "reservation")[1])


def test_faults_that_the_program_handles():
    advised(both(CARE, "faults")[1])
    same(both(CARE, "faults-first")[1]["bytes"], 0, "advice to a program that handles faults")


def test_few_mappings():
    native, ours = (int(re.search(r"mappings: (\d+)", done.err_text)[1]) for done in (
        good(CARE, "mappings"), good(GOPTIMIZE, "run", "--measure-seconds", "0", "--", CARE, "mappings")))
    check(ours <= native + 200, f"{ours} mappings of {native}, for 2 GiB")


def limit(what, size):
    return {"preexec_fn": lambda: resource.setrlimit(what, (size, size))}


def test_limits():
    both(CARE, "limited", **limit(resource.RLIMIT_AS, 700 * MIB))
    both(CARE, "limited", **limit(resource.RLIMIT_DATA, 600 * MIB))


def test_control_groups():
    """The limit ends who grows by more than little."""
    with memory_cgroup(64 * MIB) as join:
        both(USE, "blocks", preexec_fn=join)
    with memory_cgroup(420 * MIB) as join:
        both(USE, "fill", preexec_fn=join)
        both(CARE, "again", preexec_fn=join)
    with memory_cgroup(160 * MIB) as join:
        both(CARE, "loops", preexec_fn=join)


WAYS = ("count", "fork", "no-fork", "no-huge", "give-back", "again", "loops", "reservation")


def behind(library):
    if "cannot be preloaded" in run("true", env={"LD_PRELOAD": library}).err_text:
        raise Skip(f"{library} is not installed")
    for way in WAYS:
        both(CARE, way, env={"LD_PRELOAD": library})


def linked(name):
    if not (tests_dir / f"page_care_{name}").exists():
        raise Skip(f"{name} is not installed")
    for way in ("give-back", "again"):
        both(str(tests_dir / f"page_care_{name}"), way)


def test_jemalloc():
    behind("libjemalloc.so.2")


def test_mimalloc():
    behind("libmimalloc.so.2")


def test_tcmalloc():
    behind("libtcmalloc_minimal.so.4")


def test_jemalloc_linked():
    linked("jemalloc")


def test_mimalloc_linked():
    linked("mimalloc")


def test_tcmalloc_linked():
    linked("tcmalloc_minimal")


def test_tunables_of_the_user():
    for tunables in ("glibc.malloc.mmap_threshold=1073741824", "glibc.malloc.hugetlb=1", "glibc.malloc.hugetlb=2",
                     "glibc.malloc.perturb=85:glibc.malloc.trim_threshold=0", "glibc.malloc.mmap_max=0"):
        for way in ("count", "fork", "no-huge", "give-back", "again"):
            both(CARE, way, env={"GLIBC_TUNABLES": tunables})


main(globals())
