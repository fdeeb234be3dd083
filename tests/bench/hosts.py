"""Network namespaces as hosts (needs root), cables of some rate between them (tbf), and proxies on them; links that are
far away by a relay, which delays on the loopback address."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

SERVER, CLIENT = "10.213.9.1", "10.213.9.2"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def limit(host, device, rate):
    subprocess.run(["tc", "-n", host, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst", "256kb",
                    "latency", "100ms"], check=True)


def on(host):
    return ["ip", "netns", "exec", host]


class Network:
    """Two hosts and a cable of some rate; none: this host alone."""

    def __init__(self, rate):
        self.rate, self.names = rate, [f"gtrace-bench-{who}-{os.getpid()}" for who in ("server", "client")]
        self.server_at = self.client_at = []
        self.address = "127.0.0.1"

    def __enter__(self):
        if not self.rate:
            return self
        server, client = self.names
        ip("netns", "add", server)
        ip("netns", "add", client)
        ip("link", "add", "cable0", "netns", server, "type", "veth", "peer", "name", "cable0", "netns", client)
        for name, address in ((server, SERVER), (client, CLIENT)):
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable0")
            ip("-n", name, "link", "set", "cable0", "up")
            limit(name, "cable0", self.rate)
        self.server_at, self.client_at = on(server), on(client)
        self.address = SERVER
        return self

    def __exit__(self, *_):
        for name in self.names if self.rate else ():
            subprocess.run(["ip", "netns", "delete", name], check=False)


def environment(folder, **more):
    """Of a program whose own folders are below this one."""
    env = dict(os.environ, **more)
    for what in ("CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        env[f"XDG_{what}"] = f"{folder}/{what.lower()}"
        os.makedirs(env[f"XDG_{what}"], mode=0o700, exist_ok=True)
    return env


def bits_per_s(rate):
    """Of a rate as tc takes it: 100mbit, 1gbit."""
    return float(re.match(r"[\d.]+", rate)[0]) * {"m": 1e6, "g": 1e9}[rate.strip("0123456789.")[0]]


@contextlib.contextmanager
def relayed(build, url, delay_ms, rate):
    """The URL by which a proxy on this host is further away: by so many milliseconds there and back, over a line of some
    rate (""; none)."""
    if not delay_ms:
        yield url
        return
    relay = subprocess.Popen([build / "tests/relay", url.rpartition(":")[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True, bufsize=1)
    try:
        port = int(relay.stdout.readline())
        for line in (f"delay {int(delay_ms * 500)}", f"rate {int(bits_per_s(rate) / 8) if rate else 0}"):
            relay.stdin.write(line + "\n")
            if relay.stdout.readline() != "ok\n":
                sys.exit(f"the relay does not know: {line}")
        yield f"tcp://127.0.0.1:{port}"
    finally:
        relay.stdin.close()
        relay.wait()


@contextlib.contextmanager
def serving(build, at, address, folder, *options, **more):
    """A proxy: its URL, and the environment of it and of who uses it from here."""
    env = environment(folder, **more)
    command = [*at, build / "bin/gproxy", "serve", "--listen", f"tcp://{address}:0", "--insecure", *options]
    with open(f"{folder}/log", "w") as log:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        lines = iter(process.stdout.readline, "")
        url = next((m[0] for m in (re.search(r"tcp://[\d.]+:\d+", line) for line in lines if "use it:" in line) if m), None)
        if not url:
            sys.exit(f"no proxy: {pathlib.Path(folder, 'log').read_text()}")
        yield url, env
    finally:
        process.terminate()
        process.wait()


def proxy(build, network, folder, store):
    return serving(build, network.server_at, network.address, folder, "--store", store)
