#!/usr/bin/env python3
"""Programs on a remote device, over TCP and by shared memory, say what they say natively on the same device.

Usage: remote_programs.py BUILD
"""

import os
import pathlib
import re

from app_sizes import TINY
from job import *  # noqa: F403
from remote_job import natively, proxy, remotely, same_everywhere, ways

HERE = pathlib.Path(__file__).parent
# What clinfo may find different: the platform's own properties, and what cannot go (docs/virtual.md).
OTHERWISE = re.compile(r"PLATFORM|EXTENSIONS|SVM|UNIFIED_MEMORY|COMMAND_BUFFER|PIPE|ENQUEUE|ON_DEVICE|ATOMIC|LATEST_CONFORMANCE|"
                       r"ICD|LAYER|EXECUTION_CAPABILITIES|NUMDEVICES|GENERIC_ADDRESS|IL_VERSION|ILS_WITH")


def test_benchmarks():
    with proxy() as p:
        for name, size in TINY.items():
            outcome = same_everywhere(p, app(name), *size, "--iterations", 3)
            check("PASS" in outcome.text, f"{name}: {outcome.text}")
        for way in ((), ("--map",), ("--async", "--threads", 3), ("--alloc-in-loop", "--buffers-in-loop")):
            same_everywhere(p, app("vadd"), "--elements", 5000, *way)
        opening = same_everywhere(p, app("vadd_dl"), "--elements", 5000, "--iterations", 3)  # by dlopen
        check("PASS" in opening.text, opening.text)
        same(p.stop(), 0, "the proxy's exit status")
        check("signal" not in p.log, p.log)


def properties(out):
    lines = (re.match(r"\[[^\]]*\]\s+(\S+)\s*(.*)", l) for l in out.decode().splitlines())
    return {m[1]: m[2].strip() for m in lines if m}


def without_concurrent(properties):
    """Unified shared memory on a remote device: no concurrent access, and none to the program's own memory."""
    kept = dict(properties)
    for name in [n for n in kept if n.endswith("_MEM_CAPABILITIES_INTEL")]:
        words = [] if "SHARED_SYSTEM" in name else [w for w in kept[name].split(" | ") if "CONCURRENT" not in w]
        kept[name] = " | ".join(words)
    return kept


def test_clinfo():
    needs("clinfo")
    with proxy() as p:
        here = without_concurrent(properties(natively("clinfo", "--raw").out))
        for url in ways(p):
            there = properties(remotely(p, "clinfo", "--raw", url=url).out)
            check(len(there) > 80, f"only {len(there)} properties")
            wrong = {k: (here.get(k), v) for k, v in there.items() if v != here.get(k) and not OTHERWISE.search(k)}
            same(wrong, {}, "properties that differ")
            lost = [k for k in here if k not in there and not OTHERWISE.search(k)]
            same(lost, [], "properties that are missing")


def masked(out):
    return re.sub(rb"Platform: .*", b"", without_numbers(out))


def test_clpeak():
    needs("clpeak")
    with proxy() as p:
        outcome = same_everywhere(p, "clpeak", "--kernel-latency", compared=masked)
        check("latency" in outcome.text, outcome.text)


def test_pyopencl():
    if run("/usr/bin/python3", "-c", "import pyopencl").code != 0:
        raise Skip("python3-pyopencl is not installed")
    with proxy() as p:
        same_everywhere(p, "/usr/bin/python3", HERE / "clients" / "pyopencl_job.py", env={"PYOPENCL_NO_CACHE": "1"})


def test_clblast():
    """Its kernels take PoCL seconds to build and to give their binaries: the link must outlast that, so the proxy's PoCL
    keeps nothing of other tests."""
    if not (tests_dir / "clblast_job").exists():
        raise Skip("CLBlast is not installed")
    kept = pathlib.Path("kept").resolve()
    kept.mkdir()
    kept_here = {"POCL_CACHE_DIR": f"{os.environ['XDG_CACHE_HOME']}/pocl/kcache"}
    for program, there in (("clblast_job", {"POCL_CACHE_DIR": str(kept)}), ("blas_calls", {})):
        with proxy(env=there) as p:
            same_everywhere(p, tests_dir / program, env=kept_here)


main(globals())
