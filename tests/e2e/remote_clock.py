#!/usr/bin/env python3
"""Times of remote commands are told by the program's clock, also when the proxy's runs faster.

Usage: remote_clock.py BUILD
"""

from job import *  # noqa: F403
from remote_job import DEVICE, natively, proxy, remotely, ways

TIMED = tests_dir / "timed_commands"
SECONDS = 6
GAINED_US = SECONDS * 20000  # by the proxy's clock meanwhile


def test_a_clock_that_gains():
    natively(TIMED, 1)
    DEVICE["LD_PRELOAD"] = str(tests_dir / "libfast_clock.so")  # of the proxy and its workers alone
    with proxy() as p:
        for url in ways(p):
            done = remotely(p, TIMED, SECONDS, url=url)
            same(done.code, 0, f"exit status: {done.text}")
            check(int(done.text) < GAINED_US / 2, f"{url}: an END is {done.text.strip()} us in the future")


main(globals())
