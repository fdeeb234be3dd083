"""A gproxy of a measurement's own: at a port of the loopback address that the system chooses, and in shared memory.

Its token and sockets, and what goptimize and drivers keep, lie in a folder of the measurement's, so nothing of the user's
is read or changed: whoever uses the proxy runs with `env`.
"""
import os
import pathlib
import re
import subprocess


class OwnProxy:
    def __init__(self, build, folder):
        """Serves from now on."""
        folder = pathlib.Path(folder).resolve()
        self.build, self.log = pathlib.Path(build), folder / "proxy.log"
        self.env = {}
        for what in ("CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
            self.env[f"XDG_{what}"] = str(folder / what.lower())
            os.makedirs(folder / what.lower(), mode=0o700, exist_ok=True)
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen([self.build / "bin" / "gproxy", "serve", "--listen", "tcp://127.0.0.1:0"],
                                            text=True, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=log)
        for line in self.process.stdout:
            if found := re.search(r"use it:.*tcp://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        else:
            raise SystemExit(f"gproxy serve ended with {self.process.wait()}:\n{self.log.read_text()}")
        self.tcp, self.shm = f"tcp://127.0.0.1:{self.port}", f"shm:{self.port}"

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
