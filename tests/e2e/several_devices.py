#!/usr/bin/env python3
"""app_particles and the other programs for several devices of one context: the driver's, under goptimize run --spread, and
of two proxies. One device's output is what all must print.

Usage: several_devices.py BUILD PROGRAM
"""

import json
import pathlib
import re

from peers_job import *  # noqa: F401,F403

NAME = arguments[0]
TIMES = "--iterations" if NAME == "sgemm_group" else "--steps"
COMMAND = (app(NAME), TIMES, 24)
WRONG_SIZE = {"particles": ("--particles", 100), "nbody_group": ("--bodies", 1), "sgemm_group": ("--size", 100)}
# The borders of two slabs, 2 planes of 32x32 cells in 4 directions after each step; what others have stays where it is.
COPIES = 24 * 4 if NAME == "advection" else 0
BORDER = 2 * 32 * 32 * 4


def alone():
    return good(*COMMAND, env=devices(1))


def test_output():
    one = alone()
    check(re.fullmatch(rf"{NAME.removesuffix('_group')}: checksum=[0-9a-f]{{16}} PASS\n", one.text), f"stdout: {one.text}")
    check(re.fullmatch(r"gflops=\d+\.\d\ntime_s=\d+\.\d+\n", one.err_text), f"stderr: {one.err_text}")
    for count in (2, 3):
        same(good(*COMMAND, "--devices", count, env=devices(count)).out, one.out, f"stdout of {count} devices")
    same(good(*COMMAND, "--devices", 0, env=devices(4)).out, one.out, "stdout of all devices")
    same(good(*COMMAND, "--devices", 2, "--device", 1, env=devices(3)).out, one.out, "stdout of the last two devices")
    check(TIMES != "--steps" or good(*COMMAND, "--steps", 25, env=devices(1)).out != one.out, "steps change nothing")
    if NAME.endswith("_group"):
        same(good(app(NAME.removesuffix("_group")), TIMES, 24, env=devices(1)).out, one.out, "the program for one device")


def test_lost_bytes_are_noticed():
    """With a driver that forgets half of each transfer, one way or the other."""
    for way in ("write", "read"):
        outcome = run(*COMMAND, env={"OCL_ICD_VENDORS": str(tests_dir / "lossy_driver"), "LOSE": way})
        same(outcome.code, 1, f"half of each {way} is lost: exit status")
        check("FAIL: the device's result differs" in outcome.text, "not said")


def test_refusals():
    wrong = WRONG_SIZE.get(NAME, ("--cells", 100))
    for words in (("--nonsense",), (TIMES, 0), ("--devices", -1), ("--devices", "two"), wrong, ("--small", "--large")):
        one_line(run(*COMMAND, *words, env=devices(2)), USAGE, f"app_{NAME}")
    one_line(run(*COMMAND, "--devices", 3, env=devices(2)), ENVIRONMENT, "no OpenCL device 2: this machine has 2")
    one_line(run(*COMMAND, "--devices", 2, "--device", 1, env=devices(2)), ENVIRONMENT, "no OpenCL device 2")
    if NAME == "advection":
        one_line(run(*COMMAND, "--planes", 7, "--devices", 2, env=devices(2)), USAGE, "four planes")


def test_traced():
    same(good(GTRACE, "run", "--", *COMMAND, "--devices", 2, env=devices(2)).out, alone().out, "stdout when traced")


def test_spread():
    """Only borders move."""
    there = good(GOPTIMIZE, "run", "--measure-seconds", 0, "--spread", "--report", "report.json", "--", *COMMAND,
                 "--devices", 2, env=devices(2))
    same(there.out, alone().out, "stdout")
    moved = json.loads(pathlib.Path("report.json").read_text())["moved"]
    same(moved["here"], {"moves": COPIES, "bytes": COPIES * BORDER}, "moves")


def test_two_proxies():
    with proxies(2) as all:
        there, moved = launched(all, *COMMAND, "--devices", 2)
        same(there.out, alone().out, "stdout")
        same(moved["directly"], {"moves": COPIES, "bytes": COPIES * BORDER}, "moves")
        same(moved["through_us"]["moves"], 0, "through the program")


main(dict(globals()))
