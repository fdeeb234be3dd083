"""A program of a list: its runs, each in a fresh copy of its folder, what they said, and a line about all modes."""
import json
import os
import shutil
import subprocess
import time

from compared_runs import TEXT_LIMIT, Expected, Run
from modes import REMOTE, launcher


class Program:
    """`options`: build, out, timeout, plain, modes."""

    def __init__(self, entry, options, proxy=None):
        self.entry, self.options, self.proxy = entry, options, proxy
        self.out = options.out / entry.suite / entry.name
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(options.out / "cache"), "XDG_DATA_HOME": str(self.out / "data")}
        if proxy:
            self.env.update(proxy.env)
        self.row = {"suite": entry.suite, "name": entry.name}

    def fresh_copy(self):
        """It stays until the next run: ganalyze reads the program."""
        copy = self.out / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        if self.entry.folder:
            shutil.copytree(self.entry.folder, copy, symlinks=True)
        else:
            copy.mkdir()
        return copy, copy / self.entry.sub

    def run(self, name, *before, **env):
        """`name`: of the files that keep what it said."""
        done = Run([*map(str, before), *self.entry.command], self.fresh_copy(), {**self.env, **env}, self.options.timeout)
        (self.out / f"{name}.err").write_bytes(done.err)
        (self.out / f"{name}.out").write_bytes(done.out[:TEXT_LIMIT])
        return done

    def tool(self, name, *arguments, **env):
        started = time.monotonic()
        done = subprocess.run([self.options.build / "bin" / arguments[0], *map(str, arguments[1:])], cwd=self.out,
                              env={**self.env, **env}, capture_output=True, timeout=self.options.timeout)
        (self.out / f"{name}.txt").write_bytes(done.stdout)
        (self.out / f"{name}.err").write_bytes(done.stderr)
        self.row[f"{name}_s"] = round(time.monotonic() - started, 3)
        if done.returncode != 0:
            self.row.setdefault("problems", []).append(f"{name}: status {done.returncode}")
        return done.stdout

    def plain_runs(self):
        """What the program does by itself; the median of the seconds that it takes."""
        plain = [self.run(f"plain{i}") for i in range(self.options.plain)]
        self.row["plain_s"] = round(sorted(r.seconds for r in plain)[len(plain) // 2], 3)
        return Expected(plain)

    def analyze(self):
        self.tool("show", "gtrace", "show", "trace.db")
        self.tool("expand", "gtrace", "expand", "--no-memory", "trace.db")
        stats = json.loads(self.tool("stats", "gtrace", "stats", "--json", "trace.db") or "{}")
        page = json.loads(self.tool("analyze", "ganalyze", "trace.db", "--json", "--html", "page.html",
                                    "-o", f"{self.entry.name}.gprofile") or "{}")
        self.tool("report", "ganalyze", "trace.db", "-o", "again.gprofile")
        self.row.update(trace=stats.get("trace"), lost=stats.get("lost"), ratio=page.get("dispatch_ratio"),
                        eligible=page.get("eligible"), findings=[f["rule"] for f in page.get("findings", ())],
                        remote=page.get("remote", {}).get("eligible"), kernels=len(page.get("kernels", ())))

    def all_modes(self):
        expected = self.plain_runs()
        self.row.update(modes={}, statuses=sorted(map(str, expected.statuses)), stable=expected.out.stable,
                        lines=len(expected.out.lines), loose=expected.loose, own_files=sorted(expected.own_files))
        if "timeout" in expected.statuses:
            return self.row
        for mode in self.options.modes:
            if mode == "profile" and "trace" not in self.row["modes"]:
                continue
            done = self.run(mode, *launcher(mode, self.options.build, self.out, self.proxy))
            self.row["modes"][mode] = {"differs": expected.differs(done, mode in REMOTE),
                                       "s": round(done.seconds, 3)}
            if mode == "trace" and (self.out / "trace.db").exists():
                self.analyze()
        self.tidy()
        return self.row

    def tidy(self):
        shutil.rmtree(self.out / "copy", ignore_errors=True)
