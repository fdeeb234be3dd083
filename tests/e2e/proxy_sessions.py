#!/usr/bin/env python3
"""What happens inside sessions of gproxy: what kernels print, what clients may have, drivers that crash under them.

Usage: proxy_sessions.py BUILD
"""

import os
import pathlib

from proxy_job import *  # noqa: F403


def lines(text):
    return sorted(text.splitlines())


def test_kernels_print_at_their_client():
    with serving() as proxy:
        for url in (proxy.url, f"shm:{proxy.port}"):
            printed = good(CLIENT, url, proxy.token, "print:4", env=proxy.env)
            same(lines(printed.text), [f"line {i}" for i in range(4)], f"what comes back over {url}")
        check("line" not in proxy.out + proxy.log, "kernels print at the server")


def test_more_print_than_a_pipe_holds():
    with serving() as proxy:
        printed = good(CLIENT, proxy.url, proxy.token, "print:20000", env=proxy.env)
        check(lines(printed.text) == sorted(f"line {i}" for i in range(20000)), "what comes back is not what was printed")


def test_two_clients_print_each_their_own():
    with serving() as proxy:
        command = [CLIENT, proxy.url, proxy.token]
        env = dict(os.environ, **proxy.env)
        both = [subprocess.Popen([*command, f"print:{n}"], env=env, stdout=subprocess.PIPE, text=True) for n in (3, 500)]
        for n, client in zip((3, 500), both):
            text = client.communicate(timeout=WAIT)[0]
            check(lines(text) == sorted(f"line {i}" for i in range(n)), f"not what {n} work items print: {text[:200]}")


def test_clients_that_build_the_same_at_once():
    """A program that the driver's cache does not have yet, as the processes of one parallel job have it."""
    with serving(env={"XDG_CACHE_HOME": os.path.abspath("cache")}) as proxy:
        command = [CLIENT, proxy.url, proxy.token, "print:1"]
        env = dict(os.environ, **proxy.env)
        clients = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(6)]
        for client in clients:
            same((client.communicate(timeout=60)[0], client.returncode), ("line 0\n", 0), "what a client prints")


def test_a_driver_that_crashes_under_a_client():
    with serving() as proxy:
        other = proxy.hold()
        same(proxy.client("crash").code, 3, "the client's exit status")
        until(lambda: "was ended by signal 11" in proxy.log, "the log tells")
        check(other.works(), "the other session is broken")
        other.finish()
        check(not list(pathlib.Path(".").glob("core*")), "a core file")


def filling(proxy, size, count):
    """The codes of what failed, and the session as the status shows it then."""
    client = subprocess.Popen([CLIENT, proxy.url, proxy.token, f"fill:{size}:{count}"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, env=dict(os.environ, **proxy.env))
    try:
        codes = client.stdout.readline().split()
        same(client.stdout.readline(), "ready\n", "what the client says")
        session = proxy.status()["sessions"][0]
        client.stdin.close()
        same(client.wait(WAIT), 0, "the client's exit status")
        return codes, session
    finally:
        client.kill()
        client.stdout.close()


def test_the_status_counts():
    with serving() as proxy:
        codes, session = filling(proxy, 1 << 20, 10)
        same(codes, [], "what failed")
        same(session["memory_bytes"], 10 << 20, "bytes in buffers")
        same(session["bytes_in"], 40, "bytes written")
        same(session["objects"], 12, "objects: a context, a queue, buffers")
        proxy.sessions(0)
        same(proxy.status()["bytes_in_total"], 40, "bytes of sessions that are over")


def test_builds_are_counted():
    with serving(env={"POCL_KERNEL_CACHE": "0"}) as proxy:
        same(proxy.client("print:1").text, "line 0\n", "the client")
        proxy.sessions(0)
        status = proxy.status()
        same(status["builds_total"], 1, "builds")
        check(status["build_ms_total"] > 0, f"no time: {status}")


def test_memory_of_a_client():
    with serving("--memory", "4M") as proxy:
        codes, session = filling(proxy, 1 << 20, 6)
        check(codes and session["memory_bytes"] <= 4 << 20, f"6 MiB of 4: {codes}, {session}")
        check("-4" in codes, "the error is not CL_MEM_OBJECT_ALLOCATION_FAILURE")


def test_objects_of_a_client():
    with serving("--objects", 8) as proxy:
        codes, session = filling(proxy, 64, 20)
        check(1 <= session["objects"] <= 8, "objects")
        check(codes, "no error")


if __name__ == "__main__":
    main(globals())
