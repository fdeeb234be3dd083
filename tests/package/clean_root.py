#!/usr/bin/env python3
"""The packages of a release in clean roots of Debian 12 and Ubuntu 24.04: recording, analyzing and optimizing work on PoCL
from the tarball, from the .deb and from the wheel; the tarball's programs start where nothing is installed at all.

Usage: clean_root.py PACKAGES ROOTS [--make-roots] [NAME...]     PACKAGES: what scripts/release.sh made; ROOTS: where roots are
kept; NAME: only these systems or tests (debian12, tarball)

Needs root. --make-roots makes the clean roots that are missing, with mmdebstrap and from the systems' mirrors; without it no
network is used but for what the .deb depends on, and exit status 77 says that there are no roots, or no packages.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

WORDS = [w for w in sys.argv[1:] if not w.startswith("--")]
PACKAGES, ROOTS, ONLY = pathlib.Path(WORDS[0]), pathlib.Path(WORDS[1]), WORDS[2:]
WITH_POCL = ("ocl-icd-libopencl1", "pocl-opencl-icd", "python3-venv", "python3-pip")
REPORT = """set -e
cd $(mktemp -d)
export HOME=$PWD XDG_CACHE_HOME=$PWD
gtrace run -o t.db -- $APP
ganalyze t.db --json > /tmp/out/report.json
cp t.db /tmp/out
"""
OPTIMIZED = """set -e
cd $(mktemp -d)
export HOME=$PWD XDG_CACHE_HOME=$PWD
goptimize run --stage always -- $APP
gtrace stats --json /tmp/out/t.db > /tmp/out/stats.json
"""


@dataclasses.dataclass
class System:
    name: str
    suite: str
    mirror: str
    components: str
    keyring: tuple = ()  # where Debian has no keyring of it: (URL of its package, SHA-256)


SYSTEMS = (
    System("debian12", "bookworm", "http://deb.debian.org/debian", "main"),
    System("ubuntu24.04", "noble", "http://archive.ubuntu.com/ubuntu", "main,universe",
           ("http://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb",
            "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8")),
)


class Skip(Exception):
    pass


def inside(root, script, **variables):
    """Runs a shell script in the root, with /proc, /dev and /sys (PoCL asks it for processors); the mounts go with it."""
    words = "mount -t proc proc $R/proc && mount --rbind /dev $R/dev && mount --rbind /sys $R/sys && " \
            "PATH=$INSIDE exec chroot $R /bin/sh -c \"$S\""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    env = {"PATH": path, "R": str(root), "S": script, "INSIDE": variables.pop("PATH", path) + ":/usr/sbin:/sbin",
           "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", **variables}
    return subprocess.run(["unshare", "--mount", "sh", "-c", words], env=env, capture_output=True, text=True, timeout=1200)


def good(root, script, **variables):
    done = inside(root, script, **variables)
    if done.returncode:
        raise AssertionError(f"{script}\nstatus {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def made(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"{command[0]}: {done.stderr.strip()[-300:]}")


def keyring(system):
    """The file with the keys that the mirror's lists are signed with, from a package that is known by its checksum."""
    url, digest = system.keyring
    file = ROOTS / f"{system.name}.keyring.gpg"
    if not file.exists():
        try:
            data = urllib.request.urlopen(url, timeout=60).read()
        except OSError as e:
            raise Skip(f"{url}: {e}")
        if hashlib.sha256(data).hexdigest() != digest:
            raise Skip(f"{url} is another file than it was")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "k.deb").write_bytes(data)
            made("dpkg-deb", "-x", f"{folder}/k.deb", f"{folder}/k")
            shutil.copy(next(pathlib.Path(folder, "k/usr/share/keyrings").glob("*-archive-keyring.gpg")), file)
    return file


def kept_root(system, name, packages):
    """A root of the system with these packages, made once."""
    root = ROOTS / f"{system.name}-{name}"
    if not (root / "etc" / "made").exists():
        if "--make-roots" not in sys.argv:
            raise Skip(f"no {root}: --make-roots makes it")
        shutil.rmtree(root, ignore_errors=True)
        ROOTS.mkdir(parents=True, exist_ok=True)
        keys = [f"--keyring={keyring(system)}"] if system.keyring else []
        made("mmdebstrap", "--variant=minbase", f"--include={','.join(('apt', 'ca-certificates', *packages))}",
             f"--components={system.components}", *keys, system.suite, str(root), system.mirror)
        (root / "etc" / "made").touch()
    return root


class Copy:
    """A copy of a root, which is deleted."""

    def __init__(self, root):
        self._root, self._copy = root, ROOTS / f"copy-{os.getpid()}"

    def __enter__(self):
        made("cp", "-a", "--reflink=auto", str(self._root), str(self._copy))
        (self._copy / "tmp" / "out").mkdir(exist_ok=True)
        shutil.copy("/etc/resolv.conf", self._copy / "etc" / "resolv.conf")
        return self._copy

    def __exit__(self, *_):
        shutil.rmtree(self._copy)


def package(pattern):
    found = sorted(PACKAGES.glob(pattern))
    if not found:
        raise Skip(f"no {pattern} in {PACKAGES}: scripts/release.sh makes it")
    return found[-1]


def seconds_of(function, *arguments, **named):
    started = time.monotonic()
    said = function(*arguments, **named)
    return said, time.monotonic() - started


def whole_job(root, app, install, **variables):
    """Installed by `install`, then recorded, analyzed, optimized. The network is not in the times."""
    _, installing = seconds_of(install)
    said, reporting = seconds_of(good, root, REPORT, APP=app, **variables)
    again = good(root, OPTIMIZED, APP=app, **variables)
    report = json.loads((root / "tmp" / "out" / "report.json").read_text())
    stats = json.loads((root / "tmp" / "out" / "stats.json").read_text())
    if "PASS" not in said or "PASS" not in again:
        raise AssertionError(f"the program: {said}{again}")
    if not report["kernels"] or not all(k["exact"] for k in report["kernels"]):
        raise AssertionError(f"kernels were not read: {report['kernels']}")
    if not stats["kernels"] or not stats["transfers"]:
        raise AssertionError("kernels or transfers are missing in the trace")
    return f"the first report after {installing + reporting:.1f} s ({installing:.1f} of them to install)"


def unpack(root):
    tarball = package("gtrace-*-x86_64.tar.zst")
    if tarball.stat().st_size > 60_000_000:
        raise AssertionError(f"{tarball.name} has {tarball.stat().st_size} bytes, 60 MB at most")
    (root / "opt").mkdir(exist_ok=True)
    subprocess.run(["tar", "-C", str(root / "opt"), "-xf", str(tarball)], check=True)


def prefix_of_tarball():
    return "/opt/" + package("gtrace-*-x86_64.tar.zst").name.removesuffix(".tar.zst")


def test_bare(system):
    """The tarball where nothing is installed."""
    with Copy(kept_root(system, "bare", ())) as root:
        unpack(root)
        prefix = prefix_of_tarball()
        for program in ("gtrace", "ganalyze", "goptimize", "gproxy"):
            good(root, f"{prefix}/bin/{program} --version")
        loaded = good(root, f"LD_TRACE_LOADED_OBJECTS=1 {prefix}/bin/ganalyze")
        if re.search(r"libclang|libstdc|not found", loaded):
            raise AssertionError(f"ganalyze loads {loaded}")
        refused = inside(root, f"cd /tmp && {prefix}/bin/gtrace run -- true")
        return f"programs start; gtrace run of a program without OpenCL: status {refused.returncode}"


def test_tarball(system):
    with Copy(kept_root(system, "pocl", WITH_POCL)) as root:
        prefix = prefix_of_tarball()
        return whole_job(root, f"{prefix}/libexec/gtrace/apps/app_nn", lambda: unpack(root), PATH=f"{prefix}/bin:/usr/bin:/bin")


def test_deb(system):
    with Copy(kept_root(system, "pocl", WITH_POCL)) as root:
        for pattern in ("gtrace_*_amd64.deb", "gproxy_*_amd64.deb"):
            shutil.copy(package(pattern), root / "tmp")
        apt = "apt-get -qq -y install --no-install-recommends"
        fetched = inside(root, f"apt-get -qq update && {apt} --download-only /tmp/*.deb")
        if fetched.returncode and system.name != "debian12":  # for which it was made
            raise Skip(f"what it depends on is not to be had: {fetched.stderr.strip()[-300:]}")
        said = whole_job(root, "/usr/libexec/gtrace/apps/app_nn", lambda: good(root, f"{apt} /tmp/*.deb"))
        good(root, "cd /tmp && python3 -c 'import gtrace; t = gtrace.open(\"/tmp/out/t.db\"); assert t.kernels() and t.calls()'")
        good(root, "test -f /lib/systemd/system/gproxy.service || test -f /usr/lib/systemd/system/gproxy.service")
        good(root, "apt-get -qq -y remove gtrace gproxy && ! test -e /usr/lib/gtrace")
        return said


def test_wheel(system):
    wheel = package("gtrace-*.whl")
    with Copy(kept_root(system, "pocl", WITH_POCL)) as root:
        shutil.copy(wheel, root / "tmp")
        install = f"python3 -m venv /opt/env && /opt/env/bin/pip install -q --no-index /tmp/{wheel.name}"
        said = whole_job(root, "/opt/env/libexec/gtrace/apps/app_nn", lambda: good(root, install),
                         PATH="/opt/env/bin:/usr/bin:/bin")
        good(root, "cd /tmp && PATH=/usr/bin:/bin /opt/env/bin/python -c 'import gtrace; t = gtrace.open(\"/tmp/out/t.db\"); "
                   "assert t.kernels() and t.calls(calls=\"clEnqueueNDRangeKernel\")'")
        return said


TESTS = {"bare": test_bare, "tarball": test_tarball, "deb": test_deb, "wheel": test_wheel}


def wanted(name, kind):
    """Nobody named one of this kind, or this one."""
    return name in ONLY or not set(ONLY) & set(kind)


def verdict_of(test, system):
    try:
        return 0, test(system)
    except Skip as e:
        return 77, f"skipped: {e}"
    except (AssertionError, subprocess.SubprocessError, OSError) as e:
        return 1, f"FAILED: {e}"


def main():
    if os.getuid() != 0:
        print("skipped: a clean root needs root")
        return 77
    verdicts = []
    for system in SYSTEMS:
        for name, test in TESTS.items():
            if not wanted(system.name, [s.name for s in SYSTEMS]) or not wanted(name, TESTS):
                continue
            verdict, said = verdict_of(test, system)
            verdicts.append(verdict)
            print(f"{system.name}, {name}: {said}", flush=True)
    return 1 if 1 in verdicts else 77 if set(verdicts) == {77} else 0


if __name__ == "__main__":
    sys.exit(main())
