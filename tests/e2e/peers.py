#!/usr/bin/env python3
"""Contents that go from proxy to proxy: by shared memory, over TCP and TLS. The oracle is the same program in the driver's
own context of as many devices.

Usage: peers.py BUILD DOCS [PROGRAMS [SEED]]      PROGRAMS: how many random programs
"""

import os

from peers_job import *  # noqa: F401,F403
from proxy_tls import certificate, make_certificates

PROGRAMS = arguments[1] if len(arguments) > 1 else "20"
SEED = arguments[2] if len(arguments) > 2 else "1"


def test_contents():
    for apart in (False, True):
        with proxies(2, apart) as all:
            outcome, moved = launched(all, tests_dir / "spanning", "moves")
            all_yes(outcome.text, 9)
            directly(all, moved)


def test_random_programs():
    for count in (2, 3):
        here = good(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(count))
        with proxies(count) as all:
            there, moved = launched(all, tests_dir / "random_commands", SEED, PROGRAMS)
            same(there.text, here.text, f"{count} proxies: the bytes differ")
            directly(all, moved)


def test_one_proxy_twice():
    """Two workers of one proxy."""
    here = good(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(2))
    with proxies(1) as all:
        there, moved = launched(all, tests_dir / "random_commands", SEED, PROGRAMS, urls=[all[0].url, all[0].url])
        same(there.text, here.text, "the bytes differ")
        directly(all, moved)


def test_certificates():
    make_certificates()
    serve = ("--cert", "node.crt", "--key", "node.key", "--ca", "ca.crt")
    with proxies(2, serve=serve, listen="tls://127.0.0.1:0") as all:
        outcome, moved = launched(all, tests_dir / "spanning", "moves", options=certificate("ann"))
        all_yes(outcome.text, 9)
        directly(all, moved)


def test_encrypted_and_not():
    """What a client sends encrypted does not go between proxies in clear: it goes through the client."""
    make_certificates()
    serve = ("--cert", "node.crt", "--key", "node.key", "--ca", "ca.crt")
    os.makedirs("run-tls", mode=0o700)
    env = dict(devices(1), XDG_RUNTIME_DIR=os.path.abspath("run-tls"))
    with proxies(1) as all, serving(*serve, listen="tls://127.0.0.1:0", name="encrypted", env=env) as encrypted:
        both = [all[0], encrypted]
        _, moved = launched(both, tests_dir / "random_commands", SEED, "5", options=certificate("ann"))
        # The proxy without certificates reaches the other by tls:// no more than the other it by tcp://.
        same(moved["directly"]["moves"], 0, "moved directly")
        check(moved["through_us"]["bytes"] > 0, f"nothing moved: {moved}")


main(dict(globals()))
