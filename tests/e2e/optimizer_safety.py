"""goptimize run: nothing that the program, the system or a driver does to us becomes a crash or another result."""

import json
import pathlib
import shutil
import sys

from job import GOPTIMIZE, Skip, check, good, main, run, same, tests_dir

OWN = tests_dir / "optimizer"
FOREIGN_FREE, DEEP_FREES = OWN / "foreign_free", OWN / "libdeep_frees.so"
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")


def profile(binary):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, binary, "app.gprofile")


def pinned(*command, **options):
    done = run(GOPTIMIZE, "run", "--profile", "app.gprofile", "--force-policy", "pin", "--report", "report.json", "--",
               *command, **options)
    return done, json.loads(pathlib.Path("report.json").read_text())


def allocations(report):
    return sum(site["allocations"] for site in report["sites"])


# --- Pool memory that is released where no preloaded free() is seen ---

def same_as_plain(*command, env_prefix=()):
    plain = good(*command)
    done, report = pinned(*env_prefix, *command)
    same((done.code, done.out), (0, plain.out), "exit status and output")
    return report


def test_deep_bound_library_frees_pool_memory():
    profile(FOREIGN_FREE)
    report = same_as_plain(FOREIGN_FREE, DEEP_FREES)
    check(allocations(report) > 200, f"allocations {allocations(report)}")
    same(report["fallbacks"], {}, "fallbacks")


def test_no_pool_memory_beside_a_deep_bound_library_that_cannot_be_led_to_us():
    profile(FOREIGN_FREE)
    report = same_as_plain(FOREIGN_FREE, DEEP_FREES, "late", env_prefix=("env", "-u", "GTRACE_OPT_LIBC_ENTRIES"))
    same(allocations(report), 0, "allocations")
    check(report["fallbacks"]["deep_bind"] > 200, report["fallbacks"])


main(globals())
