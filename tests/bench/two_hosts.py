"""Two network namespaces as two hosts, joined by a cable of some rate (tbf; needs root), and a proxy on one of them."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

SERVER, CLIENT = "10.213.9.1", "10.213.9.2"


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
        self.ip("netns", "add", server)
        self.ip("netns", "add", client)
        self.ip("link", "add", "cable0", "netns", server, "type", "veth", "peer", "name", "cable0", "netns", client)
        for name, address in ((server, SERVER), (client, CLIENT)):
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "address", "add", f"{address}/24", "dev", "cable0")
            self.ip("-n", name, "link", "set", "cable0", "up")
            subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", "cable0", "root", "tbf", "rate", self.rate,
                            "burst", "256kb", "latency", "100ms"], check=True)
        self.server_at, self.client_at = (["ip", "netns", "exec", name] for name in self.names)
        self.address = SERVER
        return self

    def __exit__(self, *_):
        for name in self.names if self.rate else ():
            subprocess.run(["ip", "netns", "delete", name], check=False)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def proxy(build, network, folder, store):
    env = dict(os.environ)
    for what in ("CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        env[f"XDG_{what}"] = f"{folder}/{what.lower()}"
        os.makedirs(env[f"XDG_{what}"], mode=0o700, exist_ok=True)
    command = [*network.server_at, build / "bin/gproxy", "serve", "--listen", f"tcp://{network.address}:0", "--insecure",
               "--store", store]
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
