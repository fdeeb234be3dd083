#!/usr/bin/env python3
"""`gtrace view`: the desktop's browser gets a file's address and no shell sees a name; elsewhere the page is served on
loopback under a secret path, to strangers, slow and rude clients too, until a signal; nothing is left behind.

Usage: view.py BUILD
"""

import contextlib
import http.client
import pathlib
import socket
import stat
import urllib.parse

from job import *  # noqa: F403

BARE = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": ""}
ADDRESS = re.compile(r"^http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\n$")
# Writes down what it was started with; its status is that of the file `status`, if there is one.
OPENER = """#!/bin/sh
printf '%s\\n' "$#" "$@" > "$OPENED"
exit $(cat "$OPENED.status" 2>/dev/null || echo 0)
"""


def temporary():
    """Where private folders go in this test, and the environment that says so."""
    folder = pathlib.Path("run").resolve()
    folder.mkdir(exist_ok=True)
    return folder, dict(BARE, XDG_RUNTIME_DIR=str(folder))


@contextlib.contextmanager
def served(*options, **environment):
    """gtrace view while it serves: its port and path, and the process."""
    _, env = temporary()
    with open("said.txt", "wb") as said:
        process = subprocess.Popen([GTRACE, "view", *options], stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL,
                                   text=True, env={**os.environ, **env, **environment})
    try:
        line = process.stdout.readline()
        found = ADDRESS.match(line)
        check(found, f"not an address: {line!r} {pathlib.Path('said.txt').read_text()}")
        yield int(found[1]), found[2], process
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def ask(port, path, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.getheader("Content-Type"), body


def a_trace(name="trace.db"):
    good(GTRACE, "run", "-o", name, "--", app("vadd"))


def with_opener(status=None):
    folder, env = temporary()
    tools = pathlib.Path("tools")
    tools.mkdir(exist_ok=True)
    (tools / "xdg-open").write_text(OPENER)
    (tools / "xdg-open").chmod(0o755)
    if status is not None:
        pathlib.Path("opened.status").write_text(str(status))
    return folder, dict(env, DISPLAY=":77", OPENED=str(pathlib.Path("opened").resolve()),
                        PATH=f"{tools.resolve()}:{os.environ['PATH']}")


def test_served():
    a_trace()
    good(GANALYZE, "trace.db", "--html", "page.html")
    with served("trace.db") as (port, path, process):
        status, kind, body = ask(port, path)
        same((status, kind), (200, "text/html; charset=utf-8"), "answer")
        check(body == pathlib.Path("page.html").read_bytes(), "not the page of ganalyze --html")
        same(ask(port, path, "HEAD")[::2], (200, b""), "HEAD")
        for other in ("/", "/favicon.ico", path[:-1], path[:-2] + ("0/" if path[-2] != "0" else "1/"), path + "x", "/../../etc/passwd"):
            same(ask(port, other)[0], 404, other)
        same(ask(port, path, "POST")[0], 405, "POST")
        same(list(temporary()[0].iterdir()), [], "files while it serves")
        second = subprocess.run(["ss", "-ltn"], capture_output=True, text=True) if shutil.which("ss") else None
        if second and second.returncode == 0:
            check(f"127.0.0.1:{port}" in second.stdout and f"0.0.0.0:{port}" not in second.stdout, "listens elsewhere")
        process.send_signal(signal.SIGINT)
        same(process.wait(20), 0, "status after Ctrl-C")


def test_every_ending():
    a_trace()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with served() as (_, _, process):
            process.send_signal(number)
            same(process.wait(20), 0, f"status after {number.name}")


def test_another_path_each_time():
    a_trace()
    paths = set()
    for _ in range(3):
        with served() as (_, path, _):
            paths.add(path)
    same(len(paths), 3, "different paths")


def test_rude_clients():
    a_trace()
    with served() as (port, path, _):
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]  # more than it keeps
        same(ask(port, path)[0], 200, "beside clients that say nothing")
        with socket.create_connection(("127.0.0.1", port)) as endless:
            endless.settimeout(20)
            with contextlib.suppress(OSError):  # it may have hung up already
                endless.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 40000)
            with contextlib.suppress(ConnectionResetError):
                check(b" 431 " in endless.recv(1000), "takes a request without end")
        for rubbish in (b"\0" * 100 + b"\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n", b"GET " + b"/" * 9000 + b" HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.settimeout(20)
                client.sendall(rubbish)
                check(re.match(rb"HTTP/1\.1 4\d\d ", client.recv(1000)), f"answers {rubbish[:20]!r}")
        with socket.create_connection(("127.0.0.1", port)) as slow:
            for byte in f"GET {path} HTTP/1.1\r\n\r\n".encode():
                slow.sendall(bytes([byte]))
            check(slow.recv(12).endswith(b"200"), "a request that comes byte by byte")
        left = socket.create_connection(("127.0.0.1", port))
        left.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        left.close()  # before the answer
        same(ask(port, path)[0], 200, "after all of them")
        for s in silent:
            s.close()


def test_a_large_page():
    """More than a socket's buffers hold, for a reader that takes its time, beside one that does not."""
    good(tests_dir / "large_trace", "large.db", 300_000)
    with served("large.db") as (port, path, _):
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            whole = ask(port, path)[2]
            check(len(whole) > 5_000_000, f"only {len(whole)} bytes")
            got = b""
            while part := slow.recv(100_000):
                got += part
            check(got.partition(b"\r\n\r\n")[2] == whole, "the slow reader got something else")


def test_ssh():
    a_trace()
    with served(SSH_CONNECTION="192.0.2.7 50000 192.0.2.9 2222", DISPLAY=":10") as (port, _, _):
        said = lines_said(2)
        check(re.search(rf"ssh -N -L {port}:127\.0\.0\.1:{port} -p 2222 \S+@192\.0\.2\.9$", said, re.M), f"no hint: {said}")
    with served(SSH_CONNECTION="::1 50000 2001:db8::1 22") as (port, _, _):
        check(re.search(r" \S+@2001:db8::1$", lines_said(2), re.M), "no hint for IPv6")
    for hostile in ("x", "a b c d", "1 2 -oProxyCommand=x 22", "1 2 $(id) 22", "\x1b[31m 1 \x1b[0m 2", "1 2 3"):
        with served(SSH_CONNECTION=hostile):
            same(lines_said(1).count("\n"), 1, f"lines for {hostile!r}")
            check("ssh" not in lines_said(1), "a hint out of nothing")


def lines_said(count):
    """What it said on stderr, once so many lines are there."""
    for _ in range(200):
        text = pathlib.Path("said.txt").read_text()
        if text.count("\n") >= count:
            break
        time.sleep(0.05)
    return text


def test_on_a_desktop():
    folder, env = with_opener()
    for name in ("trace.db", "a b;$(touch x)`touch y`'\".db", "-o.db", "%n ü.db"):
        good(GTRACE, "run", "-o", f"./{name}", "--", app("vadd"))
        done = run(GTRACE, "view", *(("--", name) if name.startswith("-") else (name,)), env=env)
        same((done.code, done.out), (0, b""), name)
        count, address = pathlib.Path("opened").read_text().splitlines()
        same(count, "1", "arguments of xdg-open")
        check(re.fullmatch(r"file:///[\w.%/-]+", address), f"an odd address: {address}")
        page = pathlib.Path(urllib.parse.unquote(address.removeprefix("file://")))
        check(page.parent.parent == folder and page.read_text().startswith("<!"), "not the page")
        same(stat.S_IMODE(page.parent.stat().st_mode), 0o700, "mode of the folder")
        check(str(page) in done.err_text, "does not say where the page is")
    check(not {"x", "y"} & set(os.listdir()), "a shell read a name")


def test_kept_page():
    folder, env = with_opener()
    a_trace()
    name = "page of 100% #1.html"
    good(GTRACE, "view", "trace.db", "--html", name, env=env)
    address = pathlib.Path("opened").read_text().splitlines()[1]
    same(urllib.parse.unquote(address), f"file://{pathlib.Path(name).resolve()}", "address")
    check(pathlib.Path(name).read_text().startswith("<!"), "no page")
    same(list(folder.iterdir()), [], "other files")
    one_line(run(GTRACE, "view", "trace.db", "--html", "no/such/page.html", env=env), ENVIRONMENT, "no/such")
    before = pathlib.Path("trace.db").read_bytes()
    one_line(run(GTRACE, "view", "trace.db", "--html", "trace.db", env=env), USAGE, "trace")
    same(pathlib.Path("trace.db").read_bytes() == before, True, "the trace is as it was")


def test_a_desktop_that_cannot():
    a_trace()
    _, env = with_opener(status=3)
    env.pop("XDG_RUNTIME_DIR")
    with served(**env) as (port, path, _):
        same(ask(port, path)[0], 200, "served instead")
    check("xdg-open could not" in pathlib.Path("said.txt").read_text(), "says nothing of xdg-open")


def test_profile_that_cannot_be_written():
    a_trace()
    pathlib.Path("app_vadd.gprofile").mkdir()  # in its place
    with served() as (port, path, _):
        same(ask(port, path)[0], 200, "the page")


def test_bad_input():
    folder, env = temporary()
    pathlib.Path("text.db").write_text("no trace")
    one_line(run(GTRACE, "view", env=env), USAGE, "no trace")
    one_line(run(GTRACE, "view", "none.db", env=env), ENVIRONMENT, "none.db")
    one_line(run(GTRACE, "view", "text.db", env=env), INPUT, "text.db")
    one_line(run(GTRACE, "view", "x.db", "--port", "65536", env=env), USAGE, "65536")
    one_line(run(GTRACE, "view", "x.db", "--html", "", env=env), USAGE, "--html")
    for words in (("--port", "-1"), ("--port", "x"), ("--nonsense",), ("a", "b")):
        same(run(GTRACE, "view", *words, env=env).code, USAGE, words)
    same(list(folder.iterdir()), [], "files left behind")


def test_port_in_use():
    a_trace()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        one_line(run(GTRACE, "view", "--port", port, env=temporary()[1]), ENVIRONMENT, str(port), "in use")
    with served("--port", str(port)) as (there, _, _):
        same(there, port, "port")


def test_ended_while_ganalyze_works():
    good(tests_dir / "large_trace", "large.db", 100_000)
    folder, env = temporary()
    process = subprocess.Popen([GTRACE, "view", "large.db"], env=dict(os.environ, **env), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    for _ in range(200):
        if list(folder.iterdir()):
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    process.communicate(timeout=60)
    check(process.returncode in (0, -signal.SIGINT), f"status {process.returncode}")  # 0: it had begun to serve
    same(list(folder.iterdir()), [], "files left behind")


main(globals())
