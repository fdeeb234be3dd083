"""What is done for memory without a profile is done with one, too, for what the profile does not change."""

import json
import pathlib
import re
import shutil
import sys

from job import GOPTIMIZE, Skip, check, good, main, same, tests_dir
from planted_platform import planted_platform

ONE_SITE = str(tests_dir / "optimizer" / "one_site")
DRIVERS_OWN = str(tests_dir / "optimizer" / "drivers_own")
PAGES = str(tests_dir / "page_use")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
MODE = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
ON_REQUEST = MODE.exists() and "[madvise]" in MODE.read_text()
KIB = 1 << 10


def profile(program, **values):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, program, "app.gprofile", *[f"{k}={v}" for k, v in values.items()])


def reports(*command, options=(), **costs):
    """Without and with the profile: the output is the program's own."""
    plain = good(*command)
    planted_platform("platform.json", **costs)
    out = []
    for more in ((), ("--profile", "app.gprofile")):
        done = good(GOPTIMIZE, "run", "--platform", "platform.json", "--report", "r.json", *options, *more, "--", *command,
                    env={"XDG_DATA_HOME": "/proc/none"})
        same(done.out, plain.out, "output")
        out.append(json.loads(pathlib.Path("r.json").read_text()))
    return out


def test_transfers_are_too_little():
    """No site is optimized then; but its memory is staged as any other."""
    profile(ONE_SITE, eligible="false")
    without, report = reports(ONE_SITE, "busy", 100, 64 * KIB, options=("--pages", "never"), staged=1e4)
    check(without["staged"]["transfers"] > 100, without["staged"])
    same(report["staged"]["transfers"], without["staged"]["transfers"], "staged")
    same(report["sites"], [], "sites: none is optimized")
    check("too little; transfers of other memory are staged" in report["decision"], report["decision"])


def test_pages_where_transfers_are_too_little():
    if not ON_REQUEST:
        raise Skip("the system gives huge pages to everybody or nobody")
    profile(PAGES, eligible="false")
    without, report = reports(PAGES, "threads")
    check(without["huge_pages"]["bytes"] > 0, without["huge_pages"])
    check(report["huge_pages"]["bytes"] >= 0.8 * without["huge_pages"]["bytes"], report["huge_pages"])
    check("too little; fresh large blocks get huge pages" in report["decision"], report["decision"])


def test_pool_memory_under_a_buffer_of_the_programs():
    """The driver has it pinned: staging would copy it once more."""
    profile(DRIVERS_OWN)
    options = ("--force-policy", "locked", "--stage", "always", "--reuse", "never")
    without, report = reports(DRIVERS_OWN, options=options)
    check(sum(s["allocations"] for s in report["sites"]) > 0, "the pool serves it")
    same(report["drivers_own"], without["drivers_own"], "left to the driver")
    same(report["staged"]["transfers"], without["staged"]["transfers"], "staged")


def test_zeros_are_not_touched():
    """A pool's fresh memory is zero as the C library's is; only what was used before is made so."""
    profile(PAGES)
    plain = good(PAGES, "zeros")
    done = good(GOPTIMIZE, "run", "--profile", "app.gprofile", "--force-policy", "pin", "--measure-seconds", "0",
                "--report", "r.json", "--", PAGES, "zeros")
    same(done.out, plain.out, "output")
    native, ours = (int(re.search(r"first KiB: (\d+)", o.err_text)[1]) for o in (plain, done))
    check(ours < native + (64 << 10), f"{ours} KiB of {native} after the first block")
    report = json.loads(pathlib.Path("r.json").read_text())
    same((sum(s["allocations"] for s in report["sites"]), sum(s["fresh_allocations"] for s in report["sites"])), (2, 1),
         "the pool's blocks")


main(globals())
