#!/usr/bin/env python3
"""goptimize run --emulate-usm: unified shared memory where the driver has only the shared virtual one.

Usage: emulated_usm.py BUILD
"""

import remote_job
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


def test_on_remote_devices():
    """Host and shared memory are kept in step by pages: the driver's memory may be coarse-grained."""
    for env in (native(), COARSE):
        with remote_job.proxy(env=env) as p:
            for url in remote_job.ways(p):
                there = remote_job.remotely(p, PROGRAM, url=url, options=("--emulate-usm", "--only", "remote"))
                same((there.code, there.text.strip()), (0, "coarse"), f"{url}: {there.err_text}")
                there = remote_job.remotely(p, PROGRAM, "absent", url=url)
                same(there.text.strip(), "absent", "without the option")


def test_remote_device_that_cannot():
    with remote_job.proxy(env=SMALL) as p:
        there = remote_job.remotely(p, PROGRAM, "absent", options=("--emulate-usm", "--only", "remote"))
        same(there.text.strip(), "absent, but found", there.err_text)


def test_several_drivers_in_the_process():
    """Each gets functions of its own, whichever is asked first."""
    fake = tests_dir / "libfake_cl.so"
    for drivers in ((DRIVER, fake), (fake, DRIVER)):
        env = virtual(GTRACE_EMULATE_USM="1", GTRACE_REMOTE=",".join(f"local:{d}" for d in drivers))
        here = run(PROGRAM, "cpu", env=env, timeout=120)
        same((here.code, here.text.strip()), (0, "fine"), f"{env['GTRACE_REMOTE']}: {here.err_text}")
        infos = good("clinfo", env=env).text.splitlines()
        listed = [l for l in infos if l.startswith("  Device Extensions  ") and "cl_intel_unified_shared_memory" in l]
        same(len(listed), 2, f"{env['GTRACE_REMOTE']}: devices with the extension")


def test_without_goptimize():
    """The virtual platform alone, by the variable; also over a driver in the process."""
    for url in elsewhere():
        with server(url) as (env, _):
            there = run(PROGRAM, env={**env, "GTRACE_EMULATE_USM": "1"}, timeout=120)
            same((there.code, there.text.strip()), (0, "coarse"), f"{url}: {there.err_text}")
    here = run(PROGRAM, env=virtual(GTRACE_EMULATE_USM="1"), timeout=120)
    same((here.code, here.text.strip()), (0, "fine"), f"in the process: {here.err_text}")


main(dict(globals()))
