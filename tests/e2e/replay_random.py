#!/usr/bin/env python3
"""Random programs, recorded and replayed: whole, in ranges of calls, and on a proxy's device over TCP.

Usage: replay_random.py BUILD [PROGRAMS [SEED [BATCH]]]
PROGRAMS: how many in all; SEED: of the first; BATCH: how many in one process, which is one recording. Programs of which two
native runs do not say the same are named and left out.
"""

from job import *  # noqa: F403
from proxy_job import serving

PROGRAMS, SEED, BATCH = (int(a) for a in (arguments + ["12", "1", "6"][len(arguments):]))
RANGES = 3
TIME = 60 + 2 * BATCH  # seconds for each run


def record(file, *command):
    outcome = run(GTRACE, "run", "--capture", "full", "-o", file, "--", *command, timeout=TIME)
    check(outcome.code == 0, f"{command}: exit status {outcome.code}, {outcome.err_text}")


def replayed(file, *options, before=(), **env):
    outcome = run(*before, GTRACE, "replay", "--json", file, *options, timeout=TIME, **env)
    check(outcome.code == 0, f"{before} {file} {options}: {outcome.code}, {outcome.err_text[-400:]} {outcome.text[-2000:]}")
    return json.loads(outcome.text)


def remotely(proxy):
    """How a command is started whose only devices are the proxy's."""
    return (GOPTIMIZE, "run", "--remote", proxy.url, "--only", "remote", "--"), {**os.environ, **proxy.env}


def agrees_with_itself(*command):
    return run(*command, timeout=TIME).text == run(*command, timeout=TIME).text


def replay_batch(first, count, before, env):
    """How many results were compared."""
    # Fine-grained memory is only seen where no command is under way (docs/replay.md, Limits).
    command = (tests_dir / "random_commands", first, count, "coarse")
    if not agrees_with_itself(*command):
        print(f"programs {first} to {first + count - 1}: two native runs differ")
        return 0
    record("trace.db", *command)
    j = replayed("trace.db")
    same((j["not_made"], j["ended_otherwise"]), ({}, {}), f"from seed {first}")
    for i in range(RANGES):
        replayed("trace.db", "--calls", f"{j['calls'] * i // RANGES + 1}..{j['calls'] * (i + 1) // RANGES}")
    there = replayed("trace.db", before=before, env=env)
    same(there["compared"]["results"], j["compared"]["results"], f"results compared there, from seed {first}")
    for left in pathlib.Path(".").glob("trace.*"):
        left.unlink()
    return j["compared"]["results"]


def test_random_programs():
    with serving() as proxy:
        batches = [(first, min(BATCH, SEED + PROGRAMS - first)) for first in range(SEED, SEED + PROGRAMS, BATCH)]
        results = sum(replay_batch(first, count, *remotely(proxy)) for first, count in batches)
        print(f"{PROGRAMS} programs, {results} results")


def test_what_this_driver_refuses():
    """A driver that gives a handle with its error was recorded; another one gives none."""
    record("trace.db", tests_dir / "replayed", "refused")
    replayed("trace.db")
    with serving() as proxy:
        before, env = remotely(proxy)
        replayed("trace.db", before=before, env=env)


main(globals())
