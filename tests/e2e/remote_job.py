"""What the tests of remote devices share: a driver behind a proxy and beside it, and programs that use it from there.

The proxy's driver has 4 GiB, which tells remote devices from the local one. Natively, by shared memory and over TCP a
program must do the same: the oracle is its run on the same device without us.
"""

import os

import driver
from job import GOPTIMIZE, run, same
from proxy_job import serving
from virtual_job import native

DEVICE = driver.MEMORY


def only_driver():
    """This machine's other drivers are not what is tested."""
    os.environ.update(native())


def proxy(*arguments, env=None, **options):
    only_driver()
    return serving(*arguments, env={**DEVICE, **(env or {})}, **options)


def ways(p):
    """Its URLs: over TCP, by shared memory."""
    return p.url, f"shm:{p.port}"


def client(p):
    """What a client needs: where the token lies. The local device is not the proxy's."""
    return {name: value for name, value in p.env.items() if name not in DEVICE}


def remotely(p, *command, url=None, options=("--only", "remote"), env=None, **more):
    command = (GOPTIMIZE, "run", "--remote", url or p.url, *options, "--", *command)
    return run(*command, env={**client(p), **(env or {})}, timeout=60, **more)


def natively(*command, env=None, **more):
    return run(*command, env={**DEVICE, **(env or {})}, **more)


def same_everywhere(p, *command, compared=lambda out: out, **more):
    expected = natively(*command, **more)
    for url in ways(p):
        there = remotely(p, *command, url=url, **more)
        same(there.code, expected.code, f"exit status, {url}")
        same(compared(there.out), compared(expected.out), f"stdout, {url}")
    return expected
