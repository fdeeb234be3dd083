#!/usr/bin/env python3
"""goptimize run --emulate-usm: unified shared memory where the driver has only the shared virtual one.

Usage: emulated_usm.py BUILD
"""

from virtual_job import *  # noqa: F401,F403

PROGRAM = tests_dir / "emulated_usm"
COARSE = {"OCL_ICD_VENDORS": str(tests_dir / "coarse_driver"), "OCL_ICD_FILENAMES": ""}
SMALL = {"OCL_ICD_VENDORS": str(tests_dir / "small_driver"), "OCL_ICD_FILENAMES": ""}


def launched(*command, env, options=("--emulate-usm",)):
    outcome = run(GOPTIMIZE, "run", "--measure-seconds", "0", *options, "--", *command, env=env, timeout=120)
    same(outcome.code, 0, f"exit status: {outcome.err_text}")
    return outcome.text.strip()


def test_fine_grained():
    """The driver of this machine: host and device may use the memory at a time."""
    same(launched(PROGRAM, env=native()), "fine", "what the program says")


def test_coarse_grained():
    """A driver that refuses memory which is mapped for the host."""
    same(launched(PROGRAM, env=COARSE), "coarse", "what the program says")


def test_only_where_it_is_asked_for():
    same(launched(PROGRAM, "absent", env=native(), options=()), "absent", "without the option")
    same(launched(PROGRAM, "absent", env=SMALL), "absent, but found", "a device without shared virtual memory")


main(dict(globals()))
