"""What the tests of gproxy share: a proxy in the test's folder, clients of it, and strangers.

A proxy listens at a port that the system chooses. What it is asked for must come within WAIT seconds, generously.
"""

import contextlib
import os
import pathlib
import re
import signal
import socket
import time

from job import *  # noqa: F403
from job import bin_dir, check, run, subprocess, tests_dir

GPROXY = str(bin_dir / "gproxy")
CLIENT = str(tests_dir / "proxy_client")
WAIT = 20


def shared_memory():
    """Names in /dev/shm that a proxy or its clients could have left. Recordings (gtrace-PID-...) are other tests' own."""
    names = {f.name for f in pathlib.Path("/dev/shm").glob("*")}
    return {n for n in names if re.search("gtrace|gproxy", n) and not re.match(r"gtrace-\d+-", n)}


def until(condition, what, seconds=WAIT):
    """Waits for a condition; gives what it gave. Looks less often the longer it takes: many conditions start a process
    or read all of /proc."""
    begin = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        took = time.monotonic() - begin
        check(took < seconds, f"not within {seconds} s: {what}")
        time.sleep(min(max(0.02, took / 4), 0.3))


def own_folders():
    """Configuration and sockets in the test's folder."""
    os.makedirs("run", mode=0o700, exist_ok=True)
    return {"XDG_CONFIG_HOME": os.path.abspath("config"), "XDG_RUNTIME_DIR": os.path.abspath("run")}


def alive(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


class Proxy:
    def __init__(self, *arguments, listen="tcp://127.0.0.1:0", env=None, name="proxy", before=(), **options):
        """`name`: of its files. `before`: a command that runs it."""
        self.env = dict(own_folders(), **(env or {}))
        self.name = name
        self.out_file = open(f"{name}.out", "w+b")
        self.err_file = options.pop("stderr", None) or open(f"{name}.err", "w+b")
        place = ["--listen", listen] if listen else []
        self.process = subprocess.Popen([*before, GPROXY, "serve", *place, *map(str, arguments)],
                                        env=dict(os.environ, **self.env), stdin=subprocess.DEVNULL,
                                        stdout=self.out_file, stderr=self.err_file, **options)
        self.pid = self.process.pid

    def ready(self):
        until(lambda: "use it:" in self.out or self.process.poll() is not None, "the proxy is ready")
        check("use it:" in self.out, f"the proxy ended with {self.process.poll()}: {self.log}")
        self.url = re.search(r"--remote (\S+)", self.out)[1]
        self.port = int(self.url.rsplit(":", 1)[1]) if self.url.startswith("t") else None
        self.token = re.search(r"^token +(\S+)", self.out, re.M)[1]
        return self

    @property
    def out(self):
        return pathlib.Path(f"{self.name}.out").read_text()

    @property
    def log(self):
        log = pathlib.Path(f"{self.name}.err")
        return log.read_text(errors="replace") if log.exists() else ""

    def status(self):
        outcome = run(GPROXY, "status", "--json", self.url, env=self.env)
        return outcome.json

    def sessions(self, n):
        """Waits until there are n."""
        until(lambda: len(self.status()["sessions"]) == n, f"{n} sessions")
        return self.status()["sessions"]

    def workers(self):
        stats = [p.read_text() for p in pathlib.Path("/proc").glob("[0-9]*/stat") if p.exists()]
        fields = [s.rpartition(")") for s in stats]
        return [int(head.split()[0]) for head, _, tail in fields if int(tail.split()[1]) == self.pid and tail.split()[0] != "Z"]

    def client(self, *arguments, url=None, token=None, **options):
        """A client's run to its end."""
        return run(CLIENT, url or self.url, token or self.token, *arguments, env=self.env, **options)

    def hold(self, url=None, token=None):
        """A client that stays until it is told to go."""
        return Held(self, url or self.url, token or self.token)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out_file.close()
        self.err_file.close()


class Held:
    def __init__(self, proxy, url, token, *certificate):
        self.process = subprocess.Popen([CLIENT, url, token, "hold", *certificate], env=dict(os.environ, **proxy.env),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        check(line == "ready\n", f"the client said {line!r}")

    def works(self):
        """A round trip to its worker."""
        self.process.stdin.write("ping\n")
        self.process.stdin.flush()
        return self.process.stdout.readline() == "pong\n"

    def finish(self):
        self.process.stdin.close()
        return self.process.wait(WAIT)

    def wait_lost(self, seconds=WAIT):
        """The client noticed by itself that the session is over."""
        return self.process.wait(seconds) == 3

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def serving(*arguments, **options):
    with contextlib.closing(Proxy(*arguments, **options)) as proxy:
        yield proxy.ready()


def refused_start(*arguments, **options):
    """gproxy serve that does not start."""
    env = dict(own_folders(), **options.pop("env", {}))
    return run(GPROXY, "serve", *arguments, env=env, timeout=60, **options)


def hello(purpose=1, proof=1, tls=0, session=None, version=(1, 1)):
    """The 64 bytes, written down from docs/links.md, not from the code."""
    versions = b"".join(v.to_bytes(2, "little") for v in version)
    return (b"GTLINK\r\n" + versions + bytes([purpose, proof, tls, 0]) + (session or os.urandom(16)) + os.urandom(32))


def stranger(proxy, data=b"", timeout=WAIT):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # the proxy may hang up
    connection = socket.create_connection(("127.0.0.1", proxy.port), timeout)
    connection.sendall(data)
    return connection


def is_closed_by_proxy(connection):
    """Waits for the end of a connection; what came before it does not matter."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def rss_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
