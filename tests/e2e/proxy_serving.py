#!/usr/bin/env python3
"""gproxy serve and status: what they print, whom they let in, what they tell; the whole life of a proxy that goes well.

Usage: proxy_serving.py BUILD
"""

import http.client
import os
import signal
import stat
import time

from proxy_job import *  # noqa: F403


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_starts_in_one_command():
    with serving() as proxy:
        check(re.search(r"^device 0 \w+ .+", proxy.out), "no device in what it prints")
        check(f"use it: goptimize run --remote tcp://127.0.0.1:{proxy.port} -- APP" in proxy.out, "no command to type")
        same(mode(proxy.token), 0o600, "mode of the token file")
        same(mode(os.path.dirname(proxy.token)), 0o700, "mode of its folder")
        check(re.fullmatch(r"[0-9a-f]{64}\n", pathlib.Path(proxy.token).read_text()), "the token is not 64 hex digits")
        same(proxy.stop(), 0, "exit status")


def test_the_token_is_made_once():
    with serving() as proxy:
        token = pathlib.Path(proxy.token).read_text()
        check("(made now)" in proxy.out, "it does not say that the token is new")
        proxy.stop()
    with serving() as proxy:
        same(pathlib.Path(proxy.token).read_text(), token, "the token")
        check("(made now)" not in proxy.out, "it says that the token is new")


def test_clients_see_the_devices():
    with serving() as proxy:
        name = proxy.status()["devices"][0]["name"]
        for url in (proxy.url, f"shm:{proxy.port}"):
            check(name in good(CLIENT, url, proxy.token, "survey", env=proxy.env).text, f"{url} does not show the device")


def test_status_tells_of_sessions():
    with serving() as proxy:
        same(proxy.status()["sessions"], [], "sessions")
        clients = [proxy.hold(), proxy.hold(f"shm:{proxy.port}")]
        sessions = proxy.sessions(2)
        check(sessions[0]["peer"].startswith("127.0.0.1:"), "peer over TCP")
        check(str(clients[1].process.pid) in sessions[1]["peer"], "peer over a Unix socket")
        for s in sessions:
            same(s["devices"], [], "devices of a session without a queue")
            keys(s, "age_s", "pid", "builds", "build_ms", "bytes_in", "bytes_out", "objects", "memory_bytes", "in_flight_bytes")
        table = good(GPROXY, "status", proxy.url, env=proxy.env).text
        check("2 sessions now" in table and "peer" in table, "the table")
        for c in clients:
            same(c.finish(), 0, "the client's exit status")
        proxy.sessions(0)
        same(proxy.status()["sessions_total"], 2, "sessions since the start")


def test_status_without_a_proxy():
    one_line(run(GPROXY, "status", "shm:nobody", env=own_folders()), ENVIRONMENT, "no gproxy")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(port, path, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_metrics():
    port = free_port()
    with serving("--metrics", port) as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        status, text = fetch(port, "/metrics")
        same(status, 200, "HTTP status")
        for line in text.splitlines():
            check(re.fullmatch(r'# (HELP|TYPE) gproxy_\w+ .+|gproxy_\w+(\{session="\d+"\})? \d+', line), f"not a metric: {line}")
        check("\ngproxy_sessions 1\n" in text, "one session")
        same(fetch(port, "/other")[0], 404, "another path")
        same(fetch(port, "/metrics", "POST")[0], 405, "another method")
        with socket.create_connection(("127.0.0.1", port), WAIT) as long:
            long.sendall(b"GET /" + b"x" * 5000)
            check(is_closed_by_proxy(long), "a request without end is not ended")
        client.finish()


def test_status_tells_which_devices_a_session_uses():
    port = free_port()
    with serving("--metrics", port) as proxy:
        number = proxy.status()["devices"][0]["number"]
        command = [GOPTIMIZE, "run", "--remote", proxy.url, "--only", "remote", "--", tests_dir / "timed_commands", "60"]
        job = subprocess.Popen(command, env={**os.environ, **proxy.env}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            until(lambda: [s["devices"] for s in proxy.status()["sessions"]] == [[number]], "the session uses the device")
            session = proxy.status()["sessions"][0]["session"]
            line = f'gproxy_session_device{{session="{session}",device="{number}"}} 1'
            check(line in fetch(port, "/metrics")[1].splitlines(), f"no {line}")
            table = good(GPROXY, "status", proxy.url, env=proxy.env).text
            check(re.search(rf"^ *{session}  .* {number} +\d+ s ", table, re.M), "the table")
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def ticks(pid):
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def test_idle_costs_nothing():
    with serving() as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        time.sleep(1)  # the next waiting worker loads its drivers
        pids = [proxy.pid, *proxy.workers()]
        before = sum(map(ticks, pids))
        time.sleep(5)
        used = sum(map(ticks, pids)) - before
        check(used <= 0.05 * 5 * os.sysconf("SC_CLK_TCK"), f"{used} ticks in 5 s of doing nothing")
        client.finish()


def test_max_clients():
    with serving("--max-clients", 1) as proxy:
        client = proxy.hold()
        proxy.sessions(1)
        refused = proxy.client("survey")
        check(refused.code != 0 and re.search("busy|many|full", refused.err_text, re.I), "one too many is let in")
        client.finish()
        proxy.sessions(0)
        same(proxy.client("survey").code, 0, "the next client")


def test_a_new_token_after_sighup():
    with serving() as proxy:
        client = proxy.hold()
        old = pathlib.Path("old")
        old.write_bytes(pathlib.Path(proxy.token).read_bytes())
        old.chmod(0o600)
        pathlib.Path(proxy.token).write_text("ab" * 32 + "\n")
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: proxy.client("survey").code == 0, "the new token is taken")
        check(proxy.client("survey", token=old).code != 0, "the old token is still taken")
        check(client.works(), "a session from before is broken")
        client.finish()


def test_restart_on_the_same_port_at_once():
    with serving() as first:
        port = first.port
        client = first.hold()
        first.process.kill()
        first.process.wait()
        client.close()
    with serving(listen=f"tcp://127.0.0.1:{port}") as second:
        same(second.client("survey").code, 0, "a client after the restart")
        same(second.client("survey", url=f"shm:{port}").code, 0, "over the Unix socket that was left behind")


def test_a_second_proxy_on_the_same_port():
    with serving() as proxy:
        one_line(refused_start("--listen", proxy.url), ENVIRONMENT, str(proxy.port), "already")
        one_line(refused_start("--listen", f"shm:{proxy.port}"), ENVIRONMENT, "already")
        same(proxy.client("survey").code, 0, "a client of the first")
        same(proxy.client("survey", url=f"shm:{proxy.port}").code, 0, "a client of the first, shared memory")


def test_a_worker_waits_for_its_caller():
    """Longer than any handshake may take: nobody is turned away who did not call."""
    with serving() as proxy:
        same(proxy.client("survey").code, 0, "a client")
        waiting = until(lambda: len(proxy.workers()) == 1 and proxy.workers(), "one waits")
        time.sleep(2.5)
        same(proxy.workers(), waiting, "who waits")
        check("refused" not in proxy.log, f"the log: {proxy.log}")
        same(proxy.client("survey").code, 0, "a client, late")


if __name__ == "__main__":
    main(globals())
