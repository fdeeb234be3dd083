#!/usr/bin/env python3
"""How proxies, their workers and their clients end, and what that does to the others. Nothing is left behind.

Usage: proxy_endings.py BUILD [CLIENTS]    CLIENTS: of the leak check, 30 of its 1,000 connections by default
"""

import os
import pathlib
import resource
import signal
import time

from proxy_job import *  # noqa: F403


def test_a_killed_worker_ends_its_session_only():
    with serving() as proxy:
        first, second = proxy.hold(), proxy.hold()
        victim = proxy.sessions(2)[0]
        os.kill(victim["pid"], signal.SIGKILL)
        check(first.wait_lost(), "the client of the killed worker did not notice")
        check(second.works(), "the other session is broken")
        until(lambda: f"session {victim['session']}: its worker {victim['pid']} was ended by signal 9" in proxy.log, "the log tells")
        same(proxy.status()["died_total"], 1, "workers that died")
        same(proxy.client("survey").code, 0, "the next client")
        second.finish()


def test_a_killed_supervisor_ends_its_workers():
    with serving() as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        workers = until(lambda: len(proxy.workers()) >= 2 and proxy.workers(), "a worker for the session, one that waits")
        proxy.process.kill()
        proxy.process.wait()
        until(lambda: not any(map(alive, workers)), "the workers are gone", 5)
        check(client.wait_lost(), "the client did not notice")


def test_what_a_killed_supervisor_leaves():
    os.mkdir("tmp")
    place = dict(env={"TMPDIR": os.path.abspath("tmp")})
    folders = lambda: {f for f in os.listdir("tmp") if not f.endswith(".lock")}
    with serving(**place) as proxy:
        left = folders()
        same(len(left), 1, "folders for temporary files")
        workers = until(lambda: proxy.workers(), "a worker")
        proxy.process.kill()
        proxy.process.wait()
        until(lambda: not any(map(alive, workers)), "the workers are gone")
        same(folders(), left, "what is left")
        with serving(name="other", **place) as other:
            lives = folders()
            same((len(lives), lives & left), (1, set()), "folders of the next one, and of the one that was killed")
            with serving(name="third", **place) as third:
                check(lives < folders(), "the folder of one that lives is gone")
                same(third.stop(), 0, "exit status")
            same(folders(), lives, "folders")
            same(other.stop(), 0, "exit status")
        same(os.listdir("tmp"), [], "what is left in the end")


def test_a_stopped_worker_is_its_sessions_matter():
    with serving() as proxy:
        first, second = proxy.hold(), proxy.hold()
        victim = proxy.sessions(2)[0]["pid"]
        os.kill(victim, signal.SIGSTOP)
        same(len(proxy.status()["sessions"]), 2, "the status waits for a stopped worker")
        check(second.works(), "the other session is broken")
        check(first.wait_lost(), "the client of the stopped worker did not notice")
        proxy.process.send_signal(signal.SIGTERM)
        second.finish()
        proxy.process.send_signal(signal.SIGTERM)
        same(proxy.process.wait(WAIT), 0, "exit status")
        check(not alive(victim), "a stopped worker is left behind")


def test_drains():
    with serving("--drain", 60) as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        proxy.process.send_signal(signal.SIGTERM)
        until(lambda: proxy.status()["draining"], "it drains")
        refused = proxy.client("survey")
        check(refused.code != 0 and re.search("drain|shut|end", refused.err_text, re.I), "a new client is let in")
        check(client.works(), "the session is broken")
        same(client.finish(), 0, "its client's exit status")
        same(proxy.process.wait(WAIT), 0, "exit status")
        same([p.name for p in pathlib.Path("run").rglob("*") if not p.is_dir()], [], "left behind")


def test_does_not_drain_for_ever():
    with serving("--drain", 1) as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        same(proxy.stop(), 0, "exit status")
        check(client.wait_lost(), "the client did not notice")


def test_a_second_signal_ends_at_once():
    with serving("--drain", 600) as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        proxy.process.send_signal(signal.SIGINT)
        until(lambda: proxy.status()["draining"], "it drains")
        proxy.process.send_signal(signal.SIGINT)
        same(proxy.process.wait(WAIT), 0, "exit status")
        check(client.wait_lost(), "the client did not notice")


def test_clients_that_are_killed():
    with serving() as proxy:
        for client in [proxy.hold() for _ in range(4)]:
            client.process.kill()
            client.process.wait()
        proxy.sessions(0)
        until(lambda: len(proxy.workers()) <= 2, "their workers are gone")


def test_without_standard_descriptors():
    def close_all():
        for fd in range(3):
            os.close(fd)

    env = dict(os.environ, **own_folders())
    process = subprocess.Popen([GPROXY, "serve", "--listen", "shm:quiet"], env=env, preexec_fn=close_all)
    try:
        ask = lambda: run(GPROXY, "status", "--json", "shm:quiet", env=env)  # noqa: E731
        until(lambda: ask().code == 0, "it serves")
        token = os.path.abspath("config/gtrace/token")
        same(run(CLIENT, "shm:quiet", token, "survey", env=env).code, 0, "a client")
        process.terminate()
        same(process.wait(WAIT), 0, "exit status")
    finally:
        process.kill()


def test_a_full_disk_for_the_log():
    with open("/dev/full", "wb") as full, serving(stderr=full) as proxy:
        client = proxy.hold()
        os.kill(proxy.sessions(1)[0]["pid"], signal.SIGKILL)
        check(client.wait_lost(), "the client did not notice")
        same(proxy.client("survey").code, 0, "the next client")
        same(proxy.stop(), 0, "exit status")


def allow_files(n):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))


def test_few_open_files():
    one_line(refused_start("--listen", "tcp://127.0.0.1:0", preexec_fn=allow_files(40)), ENVIRONMENT, "ulimit -n")
    with serving(preexec_fn=allow_files(80)) as proxy:
        check("enough for 4 clients" in proxy.log, "it does not say for how many clients")
        same(proxy.status()["max_clients"], 4, "clients")
        many = [stranger(proxy) for _ in range(100)]
        used = ticks_of(proxy.pid)
        time.sleep(1)
        check(ticks_of(proxy.pid) - used < 50, "it spins when there are no descriptors")
        for s in many:
            s.close()
        until(lambda: proxy.client("survey").code == 0, "a client afterwards")


def ticks_of(pid):
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def open_things(proxy):
    """What a proxy may lose: its own, and what lies around."""
    return {"descriptors": descriptors(proxy.pid), "RSS in KiB": rss_kib(proxy.pid),
            "threads": len(os.listdir(f"/proc/{proxy.pid}/task")), "shared memory": len(shared_memory()),
            "sockets": sorted(str(p) for p in pathlib.Path("run").rglob("*") if not p.is_dir()),
            "temporary files": len(os.listdir("tmp"))}


def full_client(proxy, i):
    """A context, a queue, a program, a launch; every third is killed on its way."""
    url = (proxy.url, f"shm:{proxy.port}")[i % 2]
    if i % 3 != 2:
        return same(proxy.client("print:1", url=url).text, "line 0\n", f"client {i}")
    held = proxy.hold(url=url)
    held.process.kill()
    held.process.wait()
    held.process.stdout.close()


def passing_stranger(proxy, i):
    """One who goes without a word, half a hello, garbage, and now and then a hello that a worker has to refuse."""
    said = [b"", hello()[:40], os.urandom(200), b"GET / HTTP/1.1\r\n\r\n"][i % 4]
    stranger(proxy, hello() + os.urandom(100) if i % 20 == 0 else said).close()


def test_nothing_is_lost_over_many_clients():
    """1,000 connections. All of them full clients takes minutes (CLIENTS 1000): what a session may lose, some show."""
    clients = int(arguments[0]) if arguments else 30
    os.makedirs("tmp")
    with serving(env={"TMPDIR": os.path.abspath("tmp")}) as proxy:
        for i in range(6):
            full_client(proxy, i)
        proxy.sessions(0)
        before = open_things(proxy)
        for i in range(max(1000, clients)):
            full_client(proxy, i) if i % max(1, 1000 // clients) == 0 else passing_stranger(proxy, i)
        proxy.sessions(0)
        until(lambda: len(proxy.workers()) <= 2, "workers are left behind")
        after = until(lambda: (now := open_things(proxy))["descriptors"] <= before["descriptors"] + 6 and now,
                      "descriptors are left behind")  # 6: of a second waiting worker
        print(f"before and after {max(1000, clients)} connections: {before} {after}")
        check(after["RSS in KiB"] <= before["RSS in KiB"] + 1024, f"RSS in KiB: {before}, {after}")
        for what in ("threads", "shared memory", "sockets", "temporary files"):
            same(after[what], before[what], what)


if __name__ == "__main__":
    main(globals())
