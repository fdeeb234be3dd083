"""goptimize run: programs that allocate where, when and how few others do print what they print without us.

Each runs by itself, then with pools at every site, with everything staged and pinned on reuse, and with all of it.
"""

import ctypes
import json
import pathlib
import resource
import shutil
import sys

from job import GOPTIMIZE, Skip, check, good, main, run, same, tests_dir
from memory_cgroup import memory_cgroup

OWN = tests_dir / "optimizer"
ODD, REUSE, SHAPES = OWN / "odd_allocations", OWN / "reuse", OWN / "pool_shapes"
PYTHON = "/usr/bin/python3"
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
POOLS = ("--profile", "app.gprofile", "--force-policy", "pin")
ALL = ("--stage", "always", "--reuse", "always")
NONE = ("--stage", "never", "--reuse", "never")


def profile(binary, **values):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, binary, "app.gprofile", *[f"{k}={v}" for k, v in values.items()])


def optimized(options, *command, **more):
    done = run(GOPTIMIZE, "run", *options, "--report", "report.json", "--", *command, **more)
    return done, json.loads(pathlib.Path("report.json").read_text())


def allocations(report):
    return sum(site["allocations"] for site in report["sites"])


def same_in_every_way(*command, binary=None, ways=(POOLS + NONE, ALL, POOLS + ALL), env={}, **values):
    """Gives the reports. `values`: of the sites of the profile."""
    plain = good(*command, env=env)
    profile(binary or command[0], **values)
    reports = []
    for way in ways:
        done, report = optimized(way, *command, env=env)
        same((done.code, done.out), (0, plain.out), f"exit status and output with {way}")
        check((allocations(report) > 0) == (way[:4] == POOLS), f"pool memory with {way}")
        reports.append(report)
    return reports


# --- Programs ---

def test_signal_handlers():
    pools, reuse, _ = same_in_every_way(ODD, "signals")
    same(pools["fallbacks"], {}, "fallbacks")
    check(reuse["reused"]["blocks"] > 0, "pinned on reuse")


def test_signal_handlers_beside_a_busy_thread():
    # libc itself would not bear it; a pool does.
    profile(ODD)
    for way in (NONE, ALL):
        done, report = optimized(POOLS + way, ODD, "crowd")
        same((done.code, done.out), (0, b"crowd is well\n"), "exit status and output")
        check(allocations(report) > 3000, "allocations")


def test_ends_of_threads_and_of_the_process():
    _, reuse, _ = same_in_every_way(ODD, "endings")
    check(reuse["reused"]["blocks"] > 10, f"pinned on reuse: {reuse['reused']}")


def test_slab():
    for report in same_in_every_way(ODD, "slab"):
        check(report["transfers"]["count"] > 300, "transfers")


def test_program_break():
    _, reuse, _ = same_in_every_way(ODD, "break")
    same(reuse["reused"]["blocks"], 1, "only the vector is a block")


def test_sizes_that_change():
    every, _, _ = same_in_every_way(ODD, "resizing")
    # Blocks go to and fro between libc and the pool.
    some, _, _ = same_in_every_way(ODD, "resizing", min_bytes=20000, max_bytes=300000)
    check(allocations(some) < allocations(every) - 200, "some came from libc")


def test_own_operators():
    same_in_every_way(OWN / "own_operators")


def test_openmp():
    same_in_every_way(OWN / "parallel_regions")


def test_growing_numpy_arrays():
    program = (PYTHON, pathlib.Path(__file__).parent / "clients" / "numpy_growing.py")
    numpy = run(PYTHON, "-c", "import pyopencl, numpy.core._multiarray_umath as m; print(m.__file__)")
    if numpy.code != 0:
        raise Skip("python3-pyopencl is not installed")
    _, reuse, _ = same_in_every_way(*program, binary=numpy.text.strip())
    check(reuse["reused"]["blocks"] > 20, f"pinned on reuse: {reuse['reused']}")


# --- Surroundings ---

def behind(library):
    """Programs whose libc is another allocator."""
    if "cannot be preloaded" in run("true", env={"LD_PRELOAD": library}).err_text:
        raise Skip(f"{library} is not installed")
    instead = {"LD_PRELOAD": library}
    same_in_every_way(SHAPES, ways=(POOLS + NONE,), env=instead)  # its reference counts depend on the time when staged
    for command in ((ODD, "resizing"), (ODD, "endings"), (REUSE, "anew"), (REUSE, "kinds"), (REUSE, "threads")):
        same_in_every_way(*command, env=instead)


def test_jemalloc():
    behind("libjemalloc.so.2")


def test_mimalloc():
    behind("libmimalloc.so.2")


def few_lockable(size):
    """For preexec_fn. Root may lock what it likes, so without that right."""
    cap_ipc_lock, drop_from_bounding_set = 14, 24

    def apply():
        ctypes.CDLL(None).prctl(drop_from_bounding_set, cap_ipc_lock, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (size, size))
    return apply


def test_little_lockable_memory():
    profile(SHAPES)
    plain = good(SHAPES)
    for size in (64 << 10, 8 << 20):
        for policy in ("locked", "hybrid", "pin", "opencl"):
            done, report = optimized((*POOLS[:3], policy, *NONE), SHAPES, preexec_fn=few_lockable(size))
            same((done.code, done.out), (0, plain.out), f"exit status and output, {policy}, {size} bytes")
            same("lock_refused" in report["fallbacks"], policy in ("locked", "hybrid"), f"says so: {report['fallbacks']}")


def test_little_memory():
    """What a pool keeps for later must not be what ends the program."""
    profile(ODD)
    plain = good(ODD, "sizes")
    with memory_cgroup(600 << 20) as join:
        same(run(ODD, "sizes", preexec_fn=join).code, 0, "exit status without us")
        for way in (NONE, ALL):
            done, report = optimized(POOLS + way, ODD, "sizes", preexec_fn=join)
            same((done.code, done.out), (0, plain.out), "exit status and output")
            check(allocations(report) > 20, "allocations")


main(globals())
