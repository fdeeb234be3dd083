#!/usr/bin/env python3
"""gmicrobench remote: with a proxy of its own and with one that is there; what it prints, what it leaves behind.

Usage: microbench_remote.py BUILD
"""

import contextlib
import os
import pathlib
import signal

from job import *  # noqa: F403
from proxy_job import WAIT, alive, until
from remote_job import client, only_driver, proxy

GMICROBENCH = str(bin_dir / "gmicrobench")


def folder_for_temporary():
    only_driver()
    os.mkdir("tmp")
    return {"TMPDIR": os.path.abspath("tmp")}


def nothing_left(env):
    same(os.listdir(env["TMPDIR"]), [], "temporary files")
    here = env["TMPDIR"].encode()
    for cmdline in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            check(here not in cmdline.read_bytes(), f"a process is left: {cmdline}")


def is_sound(route, native):
    """Every size has times of all, and the shares follow from them."""
    for way in ("h2d", "d2h"):
        for pattern in ("window", "single"):
            times = {m["bytes"]: m for m in route["remote"][way][pattern]}
            check(len(times) >= 2 and 4096 in times, f"sizes {list(times)}")
            check(all(0 < m["low"] <= m["ns"] <= m["high"] for m in times.values()), f"medians {times}")
            for entry in route["share"][way][pattern]:
                of = [m["ns"] for t in (route["link"], native) for m in t[way][pattern] if m["bytes"] == entry["bytes"]]
                expected = max(of) / times[entry["bytes"]]["ns"]
                check(len(of) == 2 and abs(entry["share"] - expected) < 1e-6 * expected, f"{entry}, not {expected}")
            same(len(route["share"][way][pattern]), len(times), "shares")


def test_a_proxy_of_its_own():
    env = folder_for_temporary()
    done = good(GMICROBENCH, "remote", "--quick", "--json", "--html", "page.html", env=env)
    data = done.json
    same((data["format"], data["version"]), ("gtrace-remote", 1), "format, version")
    same([r["url"].split(":")[0] for r in data["routes"]], ["tcp", "shm"], "routes")
    for route in data["routes"]:
        is_sound(route, data["native"])
    same(data["idle"]["clients"], 3, "idle clients")
    check(0 <= data["idle"]["cores"] < 0.05, f"the idle proxy takes {data['idle']['cores']} of a core")
    page = pathlib.Path("page.html").read_text()
    same(page.count("<figure>"), 4, "pictures")
    for word in ("<script", "http:", "https:", "src=", "href="):
        check(word not in page, f"the page has {word}")
    nothing_left(env)


def test_a_proxy_that_is_there():
    with proxy() as p:
        done = good(GMICROBENCH, "remote", "--quick", "--json", "--remote", p.url, "--token-file", p.token, env=client(p))
        (route,) = done.json["routes"]
        same(route["url"], p.url, "URL")
        is_sound(route, done.json["native"])
        same(done.json["idle"], None, "of a proxy that others use too, nothing is said when it is idle")
        text = good(GMICROBENCH, "remote", "--quick", "--remote", f"shm:{p.port}", env=client(p)).text
        for word in (f"shm:{p.port}, to the device; link: a copy into shared memory", "from the device", "4 KiB", "share"):
            check(word in text, f"no '{word}' in the table")
        p.sessions(0)


@contextlib.contextmanager
def answering(url, *options):
    """The other side of `gmicrobench link`; its address."""
    server = subprocess.Popen([GMICROBENCH, "link", "--serve", url, *options], stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[-1]
        server.terminate()
        same(server.wait(WAIT), 0, "exit status of the server")
    finally:
        server.kill()


def test_a_link():
    good(GMICROBENCH, "platform", "--quick", "--max-bytes", "4096", "-o", "platform.json")
    token = pathlib.Path("token")
    token.touch(0o600)
    token.write_text("0123456789abcdef" * 4 + "\n")
    socket = f"shm:{os.getcwd()}/link.sock"
    for url, *proof in (("tcp://127.0.0.1:0", "--token-file", "token"), (socket,)):
        with answering(url, *proof) as address:
            link = [GMICROBENCH, "link", "--quick", address, *proof]
            one_line(run(*link, "--platform", "none.json"), ENVIRONMENT, "none.json")
            data = good(*link, "--json", "--platform", "platform.json").json
            same((data["format"], data["version"], data["url"]), ("gtrace-link", 1, address), "format")
            sizes = [s["bytes"] for s in data["sizes"]]
            check(sizes == sorted(sizes) and len(sizes) >= 5, f"sizes {sizes}")
            check(all(ns > 0 for s in data["sizes"] for ns in s.values()) and data["round_trip_ns"] > 0, "times")
            check("round trip" in good(*link).text.lower(), "no table")
    check(not pathlib.Path("link.sock").exists(), "its socket is left")
    same(len(json.loads(pathlib.Path("platform.json").read_text())["links"]), 2, "links")
    one_line(run(GMICROBENCH, "link", "--quick", socket), ENVIRONMENT, "link.sock")
    for side in ([], ["--serve"]):
        one_line(run(GMICROBENCH, "link", *side, "tcp://127.0.0.1:1"), USAGE, "token")


def test_interrupted():
    env = folder_for_temporary()
    process = subprocess.Popen([GMICROBENCH, "remote"], env={**os.environ, **env}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    until(lambda: len(os.listdir("tmp")) >= 2, "its servers are there")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT)
    same(process.returncode, -signal.SIGINT, "ended by")
    same((out, err), (b"", b""), "output")
    nothing_left(env)


def test_bad_arguments():
    only_driver()
    one_line(run(GMICROBENCH, "remote", "--device", "99"), USAGE, "99")
    one_line(run(GMICROBENCH, "remote", "--remote", "smoke:signals"), USAGE, "smoke")
    one_line(run(GMICROBENCH, "remote", "--html", "/nonexistent/page.html"), ENVIRONMENT, "nonexistent")
    nobody = run(GMICROBENCH, "remote", "--remote", "tcp://127.0.0.1:1")
    same(nobody.code, ENVIRONMENT, "exit status without a proxy")
    check("tcp://127.0.0.1:1" in nobody.err_text, nobody.err_text)
    with proxy() as p:
        wrong = pathlib.Path("wrong")
        wrong.write_text("ab" * 32 + "\n")
        wrong.chmod(0o600)
        same(run(GMICROBENCH, "remote", "--remote", p.url, "--token-file", wrong).code, ENVIRONMENT, "a wrong token")
        check(alive(p.pid), "the proxy is gone")


main(globals())
