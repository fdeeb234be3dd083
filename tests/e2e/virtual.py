#!/usr/bin/env python3
"""The virtual platform through the ICD loader, over PoCL in the same process: what it shows, what programs compute on
it, what it answers to wrong calls. The oracle is the same program on PoCL itself.

Usage: virtual.py BUILD [PROGRAMS [SEED]]      PROGRAMS: how many random programs
"""

import glob
import os
import pathlib
import re

from job import *  # noqa: F401,F403

POCL = "libpocl.so.2"
PROGRAMS = arguments[0] if arguments else "150"
SEED = arguments[1] if len(arguments) > 1 else "1"

# Wrong calls that PoCL lets pass, crashes on, or has another code for than the specification.
STRICTER = {
    "device ids: no type": -31, "image info of a buffer": -38, "image: odd format": -39,
    "image: not an image type": -65, "image: too wide": -40, "read: image": -38, "arg: not a buffer": -38,
    "launch: no arguments": -52, "launch: NULL kernel": -48, "read: after a failed event": -14,
}


def virtual(places=1, **more):
    """The environment in which the loader sees only our platform."""
    vendors = pathlib.Path("vendors").resolve()
    vendors.mkdir(exist_ok=True)
    (vendors / "gtrace.icd").write_text(f"{build}/lib/gtrace/libgtrace-remote.so\n")
    return dict(OCL_ICD_VENDORS=str(vendors), GTRACE_REMOTE=",".join([f"local:{POCL}"] * places), **more)


def native():
    found = [f for f in glob.glob("/etc/OpenCL/vendors/*.icd") if "pocl" in open(f).read()]
    if not found:
        raise Skip("PoCL is not installed")
    return dict(OCL_ICD_VENDORS=found[0])


def both(*command, places=1):
    return good(*command, env=native()), good(*command, env=virtual(places))


def test_clinfo():
    needs("clinfo")
    here, there = (o.text.splitlines() for o in both("clinfo"))
    names = lambda lines: {l[:50].strip() for l in lines if l[:50].strip()}
    lost = {n for n in names(here) - names(there) if "command buffer" not in n.lower()}
    lost -= {"Required queue properties for command buffer", "Out-of-order execution", "Profiling"}
    same(sorted(lost), [], "answers that are missing")
    check(not any("error" in l for l in there), "a query failed")
    check(any("Platform Name" in l and l.endswith("gtrace") for l in there), "not our platform")


def test_programs():
    for program in ("vadd", "sgemm", "transpose", "nbody", "nn", "bfs", "kmeans", "hotspot", "sw"):
        here, there = both(app(program))
        sums = [re.findall(r"checksum=(\w+) PASS", o.text) for o in (here, there)]
        check(sums[0] and sums[0] == sums[1], f"{program}: {sums}")


def random_programs(places):
    command = (tests_dir / "random_commands", SEED, PROGRAMS)
    here, there = both(*command, places=places)
    same(there.text.splitlines(), here.text.splitlines(), f"{places} places: the bytes differ")
    same(len(there.text.splitlines()), int(PROGRAMS), "programs")


def test_random_programs():
    random_programs(1)


def test_random_programs_on_two_places():
    random_programs(2)


def test_wrong_calls():
    def codes(outcome):
        return {name: int(code) for name, code in (l.rsplit(" ", 1) for l in outcome.text.splitlines())}

    here = codes(good(tests_dir / "wrong_calls", env=native()))
    there = codes(good(tests_dir / "wrong_calls", "all", env=virtual()))
    check(len(there) > 120, "few calls were made")
    same(there, {**{n: c for n, c in here.items()}, **STRICTER}, "codes")


def test_no_driver():
    needs("clinfo")
    env = dict(virtual(), GTRACE_REMOTE="local:/no/such/driver.so")
    outcome = run("clinfo", "-l", env=env)
    lines = [l for l in outcome.err_text.splitlines() if "gtrace: no devices from local:/no/such/driver.so" in l]
    same(len(lines), 1, "lines on stderr")
    check("gtrace" not in outcome.text, "a platform without devices")


main(globals())
