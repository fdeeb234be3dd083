#!/usr/bin/env python3
"""`cmake --install` into an empty prefix, moved afterwards: programs in bin, injected libraries in lib/gtrace, completions,
man pages and the Python package; and from there programs are recorded, explained, read and run on remote devices.

Usage: installed.py ROOT BUILD
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = ("gtrace", "ganalyze", "gmicrobench", "goptimize", "gproxy")
FILES = ("lib/systemd/system/gproxy.service", "lib/systemd/user/gproxy.service", "share/gtrace/gproxy.hosts",
         "share/gtrace/ganalyze.schema.json", "share/gtrace/platform.schema.json", "share/gtrace/python/gtrace/__init__.py",
         "libexec/gtrace/apps/app_nn")
OF_EACH_PROGRAM = ("bin/{}", "share/bash-completion/completions/{}", "share/zsh/site-functions/_{}",
                   "share/fish/vendor_completions.d/{}.fish", "share/man/man1/{}.1")
LIBRARIES = ("libgtrace-remote.so", "libgtrace-kernels.so")  # loaded when needed, never linked
READ = """import gtrace, sys
trace = gtrace.open("trace.db")
assert trace.kernels() and trace.calls(calls="clEnqueueNDRangeKernel"), "an empty trace"
print(gtrace.__file__)
"""


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


def missing_files(prefix):
    names = [*FILES, *(pattern.format(p) for p in PROGRAMS for pattern in OF_EACH_PROGRAM)]
    yield from (f"{name} is missing" for name in names if not (prefix / name).is_file())
    for name in LIBRARIES:
        found = [*prefix.glob(f"lib*/gtrace/{name}"), *prefix.glob(f"lib*/*/gtrace/{name}")]
        if len(found) != 1:
            yield f"{name}: {found}"
    injected = [*prefix.glob("lib*/gtrace/*/libOpenCL.so.1"), *prefix.glob("lib*/*/gtrace/*/libOpenCL.so.1")]
    if len(injected) != 2:
        yield f"injected libraries: {[str(p.relative_to(prefix)) for p in injected]}"


def recording_problems(prefix, app, folder):
    """A program is recorded, shown, explained (its kernel is read, by libgtrace-kernels.so) and read in Python."""
    traced = run(str(prefix / "bin" / "gtrace"), "run", "--", str(app), cwd=folder)
    shown = run(str(prefix / "bin" / "gtrace"), "show", "trace.db", cwd=folder)
    if traced.returncode or "clEnqueueNDRangeKernel" not in shown.stdout:
        return [f"gtrace run from the prefix: {traced.stderr}{shown.stderr}"]
    problems = []
    report = run(str(prefix / "bin" / "ganalyze"), "trace.db", "--json", cwd=folder)
    kernels = json.loads(report.stdout)["kernels"] if report.returncode == 0 else []
    if not kernels or not all(k["exact"] for k in kernels):
        problems.append(f"ganalyze from the prefix read no kernel: {kernels} {report.stderr}")
    env = dict(os.environ, PYTHONPATH=str(prefix / "share" / "gtrace" / "python"))
    read = run(sys.executable, "-c", READ, cwd=folder, env=env)
    if read.returncode or not read.stdout.startswith(str(prefix)):
        problems.append(f"import gtrace from the prefix: {read.stdout}{read.stderr}")
    return problems


def problems_of(prefix, build, folder):
    problems = list(missing_files(prefix)) or [f"{p} runs not: {r.stderr}" for p in PROGRAMS
                                               if (r := run(str(prefix / "bin" / p), "--version")).returncode]
    if problems:
        return problems
    app = pathlib.Path(build) / "bin" / "apps" / "app_vadd"
    problems = recording_problems(prefix, app, folder) + remote_problems(prefix, app, folder)
    compared = run(str(prefix / "bin" / "gmicrobench"), "apps", "--only", "nn", "--repeat", "1", "--policy",
                   "default,hand-pinned")
    if compared.returncode or "nn " not in compared.stdout:
        problems.append(f"gmicrobench apps from the prefix: {compared.stdout}{compared.stderr}")
    return problems


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        first, prefix = pathlib.Path(folder) / "first", pathlib.Path(folder) / "moved"
        installed = run("cmake", "--install", build, "--prefix", str(first))
        if installed.returncode:
            sys.exit(installed.stderr)
        first.rename(prefix)
        problems = problems_of(prefix, build, folder)
        files = sum(p.is_file() for p in prefix.rglob("*"))
    for p in problems:
        print(p)
    print(f"installed: {len(PROGRAMS)} programs, {files} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
