"""goptimize run with a device that vanishes: from the k-th call to the driver on, each call fails. What the program gets
is what it gets without us from a device that vanishes at some call: calls that succeed, then calls that fail, and nothing
wrong that was called right.
"""

import functools
import pathlib
import shutil
import sys

from job import GOPTIMIZE, Skip, bin_dir, check, good, main, run, same, tests_dir

VANISHING = tests_dir / "optimizer" / "vanishing"
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OCL_ICD_FILENAMES": ""}
DEVICE_NOT_AVAILABLE, OUT_OF_RESOURCES = -2, -5
MOST = 2000  # calls of one run: less than 600


def lost(k, error):
    return dict(FAKE, FAKE_CL_LOST=f"{k}={error}")


@functools.cache
def without_us(error):
    """All that the program can get."""
    whole = good(VANISHING, env=FAKE)
    endings = {(whole.code, whole.out)}
    for k in range(1, MOST):
        done = run(VANISHING, env=lost(k, error), timeout=60)
        endings.add((done.code, done.out))
        if done.out == whole.out:
            check(b"wrong" not in whole.out and len(endings) > 30, "the program without us")
            return whole, endings
    check(False, "it makes more calls than that")


EVERY = range(1, MOST)
# To stage takes more calls, and each run longer: all of them take a minute.
SOME = (*range(1, 40), *range(40, MOST, 5))


def vanishes(error, calls, *options):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, VANISHING, "app.gprofile", f"max_bytes={4 << 20}")
    whole, endings = without_us(error)
    for k in calls:
        done = run(GOPTIMIZE, "run", "--profile", "app.gprofile", *options, "--", VANISHING, env=lost(k, error),
                   timeout=60)
        check((done.code, done.out) in endings, f"from call {k} on: status {done.code}, {done.text[-300:]}")
        if done.out == whole.out:
            return
    check(False, "it makes more calls than that")


def test_while_it_is_staged():
    vanishes(DEVICE_NOT_AVAILABLE, SOME, "--stage", "always")


def test_while_its_allocations_are_pinned():
    vanishes(OUT_OF_RESOURCES, EVERY, "--stage", "never", "--force-policy", "pin")


def test_while_it_has_the_drivers_memory():
    vanishes(DEVICE_NOT_AVAILABLE, SOME, "--stage", "always", "--force-policy", "opencl")


def test_while_its_memory_is_pinned_on_reuse():
    vanishes(OUT_OF_RESOURCES, EVERY, "--stage", "never", "--reuse", "always")


def test_while_it_is_measured():
    """One line that says what failed, or a file."""
    for k in [*range(1, 60), *(60 + 7 * n for n in range(30)), 1000, 3000, 10000]:
        done = run(bin_dir / "gmicrobench", "platform", "--quick", "--max-bytes", "64", "-o", "p.json",
                   env=lost(k, DEVICE_NOT_AVAILABLE))
        if done.code != 0:
            same((done.code, len(done.err_text.splitlines())), (4, 1), f"status and lines from call {k} on: {done.err_text}")


main(globals())
