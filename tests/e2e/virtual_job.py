"""What tests of the virtual platform share: the environments in which it is seen, and an executor elsewhere."""

import contextlib
import itertools
import os
import pathlib
import subprocess

import driver
from job import *  # noqa: F401,F403

DRIVER = driver.library_path()
names = itertools.count()


def virtual(places=1, **more):
    """The environment in which the loader sees only our platform."""
    vendors = pathlib.Path("vendors").resolve()
    vendors.mkdir(exist_ok=True)
    (vendors / "gtrace.icd").write_text(f"{build}/lib/gtrace/libgtrace-remote.so\n")
    return {"OCL_ICD_VENDORS": str(vendors), "GTRACE_REMOTE": ",".join([f"local:{DRIVER}"] * places), **more}


def native():
    if driver.missing():
        raise Skip(driver.missing())
    return driver.environment()


def elsewhere():
    """Where a server may listen. Names of sockets inside a node are the user's; a socket in this folder is the test's own."""
    return "tcp://127.0.0.1:0", f"shm:{os.getcwd()}/{next(names)}.sock"


@contextlib.contextmanager
def server(url, drivers=None, **more):
    """An executor in a process of its own; gives the environment of its clients, and the process. `drivers`: a folder
    that names other drivers; `more`: of its environment."""
    env = dict(native(), **(dict(OCL_ICD_VENDORS=str(drivers)) if drivers else {}), **more)
    process = subprocess.Popen([str(tests_dir / "executor_server"), url, "token"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env=dict(os.environ, **env))
    try:
        address = process.stdout.readline().strip()
        yield virtual(GTRACE_REMOTE=address, GTRACE_TOKEN_FILE=str(pathlib.Path("token").resolve())), process
    finally:
        process.kill()
        process.communicate()
