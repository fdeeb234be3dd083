#!/usr/bin/env python3
"""Programs that we are guests in: those that use a device until their very last code has run, and those that close
descriptors, have closed ones, or look at their numbers. The oracle is the program's native run.

Usage: guests.py BUILD
"""

import pathlib
import time

from job import *  # noqa: F403
from proxy_job import until
from remote_job import DEVICE, client, natively, proxy, remotely, ways
from virtual_job import DRIVER, virtual

LATE = tests_dir / "late_use"
DESCRIPTORS = tests_dir / "descriptors"
PYTHON3 = "/usr/bin/python3"  # the one that has the system's pyopencl
ENDS = ("handler", "static", "destructor", "library", "thread", "quick", "threads", "callback", "waiting", "closing")


def in_every_way(p, command, **more):
    """Yields (name, a function that runs it) of each way in which a program may come to its device."""
    for url in ways(p):
        yield url, lambda url=url: remotely(p, *command, url=url, **more)
        by_loader = {**client(p), **virtual(GTRACE_REMOTE=url)}
        yield f"{url} by the loader alone", lambda env=by_loader: run(*command, env=env, timeout=60, **more)
    yield "in the process", lambda: run(*command, env=virtual(GTRACE_REMOTE=f"local:{DRIVER}"), timeout=60, **more)
    staged = (GOPTIMIZE, "run", "--stage", "always", "--reuse", "always", "--", *command)
    yield "staged", lambda: run(*staged, timeout=60, **more)
    yield "recorded", lambda: run(GTRACE, "run", "-o", "trace.db", "--", *command, timeout=60, **more)


def same_as_natively(p, *command, **more):
    expected = natively(*command, **more)
    check(expected.out and b"NO" not in expected.out, f"natively: {expected.text} {expected.err_text}")
    for name, there in in_every_way(p, command, **more):
        began = time.monotonic()
        outcome = there()
        same(outcome.text, expected.text, f"{name}: {outcome.err_text}")
        same(outcome.code, expected.code, f"{name}: exit status")
        check(time.monotonic() - began < 20, f"{name}: it took {time.monotonic() - began} s")
    return expected


def test_the_end_of_a_program():
    with proxy() as p:
        for end in ENDS:
            same_as_natively(p, LATE, end)
        until(lambda: not p.status()["sessions"], "the sessions have ended")


def test_the_end_is_known_at_once():
    """A proxy does not wait for who has said that he goes."""
    with proxy() as p:
        for url in ways(p):
            remotely(p, LATE, "handler", url=url)
            until(lambda: not p.status()["sessions"], f"{url}: the session has ended", 4)  # a lost one is kept for 6.5 s


def test_a_sanitizer_in_the_program():
    """What we do in it is no race of its own. (Of PoCL in the same process it does report some.)"""
    watched = tests_dir / "watched"
    if not watched.exists():
        raise Skip("built without")
    with proxy() as p:
        for url in ways(p):
            there = remotely(p, watched, url=url)
            same((there.code, there.text), (0, "come and gone\n"), f"{url}: {there.err_text[:2000]}")
            check("ThreadSanitizer" not in there.err_text, f"{url}: {there.err_text[:2000]}")


def test_an_interpreter_that_ends():
    needs(PYTHON3)
    pathlib.Path("late.py").write_text(PYTHON)
    with proxy() as p:
        expected = natively(PYTHON3, "late.py")
        if expected.code != 0:
            raise Skip(f"pyopencl: {expected.err_text}")
        for url in ways(p):
            there = remotely(p, PYTHON3, "late.py", url=url)
            same((there.code, there.text), (0, expected.text), f"{url}: {there.err_text}")


PYTHON = """
import atexit, numpy
state = {}
def at_end():
    import pyopencl as cl
    back = numpy.empty_like(state["host"])
    cl.enqueue_copy(state["queue"], back, state["buffer"])
    print("at the end", bool((back == state["host"]).all()))
atexit.register(at_end)
class Late:
    def __del__(self):
        print("late", state["queue"].finish())
late = Late()
import pyopencl as cl
context = cl.create_some_context(interactive=False)
state["queue"] = cl.CommandQueue(context)
state["host"] = numpy.arange(100000, dtype=numpy.float32)
state["buffer"] = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=state["host"])
print("begun")
"""


def test_descriptors():
    with proxy() as p:
        for mode in ("numbers", "standard", "select", "limited"):
            same_as_natively(p, DESCRIPTORS, mode)


def test_programs_that_close_everything():
    """Their device is there again: the session goes on by new connections."""
    with proxy() as p:
        for mode in ("all", "ranges", "replaced"):
            same_as_natively(p, DESCRIPTORS, mode)


def test_closed_at_the_start():
    """0 to 2, of us as of the program."""
    with proxy() as p:
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            plain = seen_by(closed)
            for tool in ((GOPTIMIZE, "run", "--stage", "always", "--"), (GTRACE, "run", "-o", "closed.db", "--"),
                         (GOPTIMIZE, "run", "--remote", p.url, "--only", "remote", "--")):
                same(seen_by(closed, *tool, env=client(p)), plain, f"{tool[:3]} {closed}: open descriptors")


def seen_by(closed, *tool, env=None):
    """By a program that a shell starts with these descriptors closed: which are open before and after it uses a device."""
    command = " ".join(map(str, (*tool, DESCRIPTORS, "lists", pathlib.Path("seen").resolve())))
    pathlib.Path("seen").unlink(missing_ok=True)
    outcome = run("sh", "-c", f"{command} {closed}", env={**DEVICE, **(env or {})}, timeout=60)
    same(outcome.code, 0, f"exit status, {command} {closed}")
    return pathlib.Path("seen").read_text()


main(globals())
