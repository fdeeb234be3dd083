#!/usr/bin/env python3
"""Random programs on proxies' devices: one proxy over TCP, one by shared memory, three proxies in one context, a
proxy beside a driver in the program. The oracle is the same program on the driver itself.

Usage: random_programs.py BUILD [PROGRAMS [SEED [BATCH]]]
PROGRAMS: how many in all (each takes one of the ways, in turns); SEED: of the first; BATCH: how many in one process.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import time

from proxy_job import GPROXY, own_folders
from virtual_job import *  # noqa: F401,F403

PROGRAMS, SEED, BATCH = (int(a) for a in (arguments + ["120", "1", "30"][len(arguments):]))
BATCH_TIME = 60 + BATCH  # seconds


@contextlib.contextmanager
def proxies(count, *options):
    """So many, each over TCP and by shared memory; gives their ports."""
    env = {**os.environ, **own_folders(), **native(), "POCL_MEMORY_LIMIT": "4"}
    processes, ports = [], []
    try:
        for i in range(count):
            process = subprocess.Popen([GPROXY, "serve", "--listen", "tcp://127.0.0.1:0", *options], env=env, text=True,
                                       stdout=subprocess.PIPE, stderr=open(f"proxy{i}.err", "w"))
            processes.append(process)
            lines = ""
            while "use it:" not in lines:
                line = process.stdout.readline()
                check(line, f"a proxy ended: {pathlib.Path(f'proxy{i}.err').read_text()}")
                lines += line
            ports.append(re.search(r"tcp://127.0.0.1:(\d+)", lines)[1])
        yield ports
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def ways(ports):
    tcp, shm = [f"tcp://127.0.0.1:{p}" for p in ports], [f"shm:{p}" for p in ports]
    return {"TCP": tcp[0], "shared memory": shm[0], "three proxies": f"{tcp[0]},{shm[1]},{tcp[2]}",
            "a proxy and a driver here": f"{shm[2]},local:{DRIVER}"}


def compare(name, url, first, count, *kind):
    """Gives how long the programs took there."""
    command = (tests_dir / "random_commands", first, count, *kind)
    here = good(*command, env=native(), timeout=BATCH_TIME)
    started = time.monotonic()
    there = run(*command, env=virtual(GTRACE_REMOTE=url, **own_folders()), timeout=BATCH_TIME)
    spent = time.monotonic() - started
    if there.code != 0:
        print("".join(log.read_text()[-400:] for log in sorted(pathlib.Path(".").glob("proxy*.err"))))
    lines, expected = there.text.splitlines(), here.text.splitlines()
    differ = [e.split()[0] for e, l in zip(expected, lines) if e != l]
    same((there.code, differ, len(lines)), (0, [], count), f"{name}, from seed {first}")
    return spent


def test_random_programs():
    with proxies(3) as ports:
        urls = list(ways(ports).items())
        spent = {name: [0, 0.0] for name, _ in urls}
        for batch, first in enumerate(range(SEED, SEED + PROGRAMS, BATCH)):
            name, url = urls[batch % len(urls)]
            count = min(BATCH, SEED + PROGRAMS - first)
            spent[name][1] += compare(name, url, first, count)
            spent[name][0] += count
        for name, (programs, seconds) in spent.items():
            print(f"{name}: {programs} programs, {seconds:.0f} s")


def test_with_little_room_for_transfers():
    """They wait for room, and for nothing that waits behind them. Without shared virtual memory: what is done with it
    here, with events of ours, would wait behind them (docs/gproxy.md)."""
    with proxies(1, "--in-flight", "64K") as ports:
        compare("TCP", f"tcp://127.0.0.1:{ports[0]}", SEED, BATCH, "plain")
        compare("shared memory", f"shm:{ports[0]}", SEED, BATCH, "plain")


main(dict(globals()))
