#!/usr/bin/env python3
"""Pages that a program makes present, protects, drops or moves by itself: it sees what it would see without us.

Usage: program_pages.py BUILD
"""

import functools
import pathlib
import sys

from job import GOPTIMIZE, GTRACE, check, good, main, needs, run, same, tests_dir
from remote_job import client, natively, proxy, ways

LAZY, CALLS = (str(tests_dir / "optimizer" / name) for name in ("lazy_pages", "page_calls"))
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
LAZY_SHAPES = ("pages", "granules", "few", "truncated", "watched", "served")
CALL_SHAPES = ("dropped", "freed", "refused", "protect", "children", "moved", "unmapped", "file", "again", "threads",
               "served")
POOLED = ("--profile", "app.gprofile", "--force-policy")
STAGED = ("--stage", "always", "--reuse", "always")


@functools.cache
def expected(program, shape):
    done = natively(program, shape)
    same(done.code, 0, f"natively: {done.err_text}")
    check("NOT" not in done.text and "WRONG" not in done.text, f"the oracle is wrong: {done.text}")
    return done.out


def compare(program, shapes, *options, env=None):
    """Each shape in a process of its own: handlers stay, and what a block leaves behind is libc's next one's."""
    for shape in shapes:
        done = run(GOPTIMIZE, "run", *options, "--", program, shape, env=env or {}, timeout=60)
        same((done.code, done.out), (0, expected(program, shape)), f"{options} {shape}: {done.err_text[-400:]}")


def profile():
    needs("objdump", "readelf")
    good(sys.executable, MAKE_PROFILE, CALLS, "app.gprofile", "min_bytes=1000000")


def test_lazy_pages_here():
    compare(LAZY, LAZY_SHAPES, *STAGED)


def test_lazy_pages_elsewhere():
    with proxy() as p:
        for url in ways(p):
            compare(LAZY, LAZY_SHAPES, "--remote", url, "--only", "remote", env=client(p))
        same(p.stop(), 0, "the proxy's exit status")


def test_without_a_driver_here():
    """Nobody handles faults then, as PoCL would, but a userfaultfd's thread serves them."""
    with proxy() as p:
        env = {**client(p), "OCL_ICD_VENDORS": "/nonexistent"}
        for url in ways(p):
            for program, shapes in ((LAZY, ("served", "pages")), (CALLS, ("served", "unmapped"))):
                compare(program, shapes, "--remote", url, "--only", "remote", env=env)
        same(p.stop(), 0, "the proxy's exit status")


def test_lazy_pages_traced():
    for shape in LAZY_SHAPES:
        done = run(GTRACE, "run", "--capture", "hash", "-o", f"{shape}.gtrace", "--", LAZY, shape, timeout=60)
        same((done.code, done.out), (0, expected(LAZY, shape)), f"{shape}: {done.err_text[-400:]}")


def test_page_calls_on_pinned_blocks():
    compare(CALLS, CALL_SHAPES, *STAGED)


def test_page_calls_on_pools():
    profile()
    compare(CALLS, CALL_SHAPES, *POOLED, "pin", "--stage", "always")
    compare(CALLS, ("dropped", "freed", "protect", "again"), *POOLED, "locked", "--stage", "always")


def test_page_calls_on_shared_pools():
    profile()
    with proxy() as p:
        for url in ways(p):
            compare(CALLS, CALL_SHAPES, *POOLED, "pin", "--only", "remote", "--remote", url, env=client(p))
        same(p.stop(), 0, "the proxy's exit status")


main(globals())
