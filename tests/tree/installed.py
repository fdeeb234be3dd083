#!/usr/bin/env python3
"""`cmake --install` into an empty prefix, moved afterwards: programs in bin, injected libraries in lib/gtrace, and
`gtrace run` works from there.

Usage: installed.py ROOT BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = ("gtrace", "ganalyze", "gmicrobench", "goptimize", "gproxy")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def remote_problems(prefix, app, folder):
    """gproxy serve and goptimize run --remote from the prefix."""
    runtime = pathlib.Path(folder) / "run"
    runtime.mkdir(mode=0o700)
    env = dict(os.environ, XDG_CONFIG_HOME=folder, XDG_RUNTIME_DIR=str(runtime))
    proxy = subprocess.Popen([str(prefix / "bin" / "gproxy"), "serve", "--listen", "shm:installed"], env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    command = [str(prefix / "bin" / "goptimize"), "run", "--stage", "always", "--remote", "shm:installed"]
    try:
        if not any("use it:" in line for line in proxy.stdout):
            return ["gproxy serve from the prefix does not serve"]
        there = run(*command, "--only", "remote", "--", str(app), env=env, timeout=100)
    finally:
        proxy.terminate()
        proxy.wait(20)
        proxy.stdout.close()
    served = there.returncode == 0 and "PASS" in there.stdout and "1 devices of shm:installed" in there.stderr
    return [] if served else [f"goptimize run --remote from the prefix: {there.stdout}{there.stderr}"]


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        first, prefix = pathlib.Path(folder) / "first", pathlib.Path(folder) / "moved"
        installed = run("cmake", "--install", build, "--prefix", str(first))
        if installed.returncode:
            sys.exit(installed.stderr)
        first.rename(prefix)
        problems = [f"bin/{p} is missing" for p in PROGRAMS if not (prefix / "bin" / p).is_file()]
        libraries = list(prefix.glob("lib*/gtrace/*/libOpenCL.so.1")) + \
            list(prefix.glob("lib*/*/gtrace/*/libOpenCL.so.1"))
        if len(libraries) < 2:
            problems.append(f"injected libraries: {[str(p.relative_to(prefix)) for p in libraries]}")
        problems += [f"share/gtrace/{s}.schema.json is missing" for s in ("ganalyze", "platform")
                     if not (prefix / "share" / "gtrace" / f"{s}.schema.json").is_file()]
        problems += [f"{f} is missing" for f in ("lib/systemd/system/gproxy.service", "lib/systemd/user/gproxy.service",
                                                 "share/gtrace/gproxy.hosts") if not (prefix / f).is_file()]
        remote = list(prefix.glob("lib*/gtrace/libgtrace-remote.so")) + list(prefix.glob("lib*/*/gtrace/libgtrace-remote.so"))
        if len(remote) != 1:
            problems.append(f"libgtrace-remote.so: {remote}")
        if not list(prefix.glob("libexec/gtrace/apps/app_nn")):
            problems.append("the benchmark programs are missing")
        problems += [f"{p} runs not: {r.stderr}" for p in PROGRAMS
                     if not problems and (r := run(str(prefix / "bin" / p), "--version")).returncode]
        if not problems:
            app = pathlib.Path(build) / "bin" / "apps" / "app_vadd"
            traced = run(str(prefix / "bin" / "gtrace"), "run", "--", str(app), cwd=folder)
            shown = run(str(prefix / "bin" / "gtrace"), "show", "trace.db", cwd=folder)
            if traced.returncode or "clEnqueueNDRangeKernel" not in shown.stdout:
                problems.append(f"gtrace run from the prefix: {traced.stderr}{shown.stderr}")
            problems += remote_problems(prefix, app, folder)
            compared = run(str(prefix / "bin" / "gmicrobench"), "apps", "--only", "nn", "--repeat", "1", "--policy",
                           "default,hand-pinned")
            if compared.returncode or "nn " not in compared.stdout:
                problems.append(f"gmicrobench apps from the prefix: {compared.stdout}{compared.stderr}")
    for p in problems:
        print(p)
    print(f"installed: {len(PROGRAMS)} programs, {len(libraries)} libraries, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
