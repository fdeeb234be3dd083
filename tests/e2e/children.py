#!/usr/bin/env python3
"""Programs that the recorded one starts with an environment of its own making, and those that cannot be followed.

Usage: children.py BUILD
"""

from counted import FAKE
from job import *  # noqa: F403

PROGRAM, STATIC = tests_dir / "children", tests_dir / "interpose" / "bin" / "door_static"


def platforms_asked():
    """How many processes asked for platforms."""
    functions = good(GTRACE, "stats", "--json", "trace.db").json["functions"]
    return sum(f["calls"] for f in functions if f["name"] == "clGetPlatformIDs")


def facts():
    stats = good(GTRACE, "stats", "--json", "trace.db").json
    return stats["lost"]["programs_not_followed"], stats["facts"].get("programs_not_followed.first", "")


def test_every_way_to_start_a_program():
    bare, outcome = good(PROGRAM, env=FAKE), traced(PROGRAM, env=FAKE)
    same((outcome.code, outcome.text), (0, bare.text), "status and output")
    same(bare.text.count(" 0 value\n"), 12, "children")
    same(platforms_asked(), 12, "children that were recorded")
    same(facts(), (0, ""), "programs not followed")


def test_env_and_scripts():
    traced("env", "-i", PROGRAM, "child", "env")
    same(platforms_asked(), 1, "calls under env -i")
    traced("/bin/sh", "-c", f"env -i /bin/sh -c 'env -i {PROGRAM} child twice'")
    same(platforms_asked(), 1, "calls under two shells")


def test_python_subprocess():
    code = f"import subprocess; subprocess.run(['{PROGRAM}', 'child', 'python'], env={{}}, check=True)"
    same(traced("python3", "-c", code).code, 0, "exit status")
    same(platforms_asked(), 1, "calls of the child")


def test_a_recording_in_a_recording_is_its_own():
    inner = f"{GTRACE} run -o inner.db -- {PROGRAM} child inner"
    same(traced("/bin/sh", "-c", inner, env=FAKE).code, 0, "exit status")
    same(platforms_asked(), 0, "calls in the outer trace")
    check(os.path.exists("inner.db"), "no inner trace")


def test_static_children_are_counted():
    outcome = traced("/bin/sh", "-c", f"{STATIC} || true; {STATIC} || true")
    check("2 programs that it started could not be recorded" in outcome.err_text, "not said")
    count, first = facts()
    same((count, first), (2, f"{STATIC} (a static executable)"), "facts")


def test_children_with_their_own_opencl_are_named():
    program = tests_dir / "doors" / "door_job_static"
    outcome = traced("/bin/sh", "-c", f"{program}; true")
    check(f"{program} has OpenCL linked into it" in outcome.err_text, "not said")
    check("linked into it" not in traced(program).err_text, "said of the program itself")


main(globals())
