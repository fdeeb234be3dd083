#!/usr/bin/env python3
"""The packages of a release in a clean root of Debian 12: recording, analyzing and optimizing work on PoCL from the tarball,
from the .deb and from the wheel; the tarball's programs start where nothing is installed at all.

Usage: clean_root.py PACKAGES ROOTS [--make-roots]     PACKAGES: what scripts/release.sh made; ROOTS: where roots are kept

Needs root. --make-roots makes the clean roots that are missing, with mmdebstrap and from Debian's mirror; without it no network
is used, and exit status 77 says that there are none, or no packages.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PACKAGES, ROOTS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
MIRROR = "http://deb.debian.org/debian"
WITH_POCL = ("pocl-opencl-icd", "python3-venv", "python3-pip")
JOB = """set -e
cd $(mktemp -d)
export HOME=$PWD XDG_CACHE_HOME=$PWD
gtrace run -o t.db -- $APP
ganalyze t.db --json > report.json
goptimize run --stage always -- $APP
gtrace stats --json t.db > stats.json
cp report.json stats.json t.db /tmp/out
"""


class Skip(Exception):
    pass


def inside(root, script, **variables):
    """Runs a shell script in the root, with /proc and /dev; the mounts go with it."""
    words = "mount -t proc proc $R/proc && mount --rbind /dev $R/dev && exec chroot $R /bin/sh -c \"$S\""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "R": str(root), "S": script,
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


def kept_root(name, packages):
    """A root of Debian with these packages, made once."""
    root = ROOTS / name
    if not (root / "etc" / "made").exists():
        if "--make-roots" not in sys.argv:
            raise Skip(f"no {root}: --make-roots makes it")
        shutil.rmtree(root, ignore_errors=True)
        ROOTS.mkdir(parents=True, exist_ok=True)
        made("mmdebstrap", "--variant=minbase", f"--include={','.join(('ca-certificates', *packages))}", "bookworm",
             str(root), MIRROR)
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


def whole_job(root, app, **variables):
    started = time.monotonic()
    said = good(root, JOB, APP=app, **variables)
    seconds = time.monotonic() - started
    report = json.loads((root / "tmp" / "out" / "report.json").read_text())
    stats = json.loads((root / "tmp" / "out" / "stats.json").read_text())
    if "PASS" not in said:
        raise AssertionError(f"the program: {said}")
    if not report["kernels"] or not all(k["exact"] for k in report["kernels"]):
        raise AssertionError(f"kernels were not read: {report['kernels']}")
    if not stats["kernels"] or not stats["transfers"]:
        raise AssertionError("kernels or transfers are missing in the trace")
    return f"recorded, analyzed and optimized in {seconds:.1f} s"


def unpacked(root):
    tarball = package("gtrace-*-x86_64.tar.zst")
    if tarball.stat().st_size > 60_000_000:
        raise AssertionError(f"{tarball.name} has {tarball.stat().st_size} bytes, 60 MB at most")
    (root / "opt").mkdir(exist_ok=True)
    subprocess.run(["tar", "-C", str(root / "opt"), "-xf", str(tarball)], check=True)
    return "/opt/" + next((root / "opt").glob("gtrace-*")).name


def test_tarball_where_nothing_is():
    with Copy(kept_root("bare", ())) as root:
        prefix = unpacked(root)
        for program in ("gtrace", "ganalyze", "goptimize", "gproxy"):
            good(root, f"{prefix}/bin/{program} --version")
        loaded = good(root, f"LD_TRACE_LOADED_OBJECTS=1 {prefix}/bin/ganalyze")
        if re.search(r"libclang|libstdc|not found", loaded):
            raise AssertionError(f"ganalyze loads {loaded}")
        refused = inside(root, f"cd /tmp && {prefix}/bin/gtrace run -- true")
        return f"programs start; gtrace run of a program without OpenCL: status {refused.returncode}"


def test_tarball():
    with Copy(kept_root("pocl", WITH_POCL)) as root:
        prefix = unpacked(root)
        return whole_job(root, f"{prefix}/libexec/gtrace/apps/app_nn", PATH=f"{prefix}/bin:/usr/bin:/bin")


def test_deb():
    with Copy(kept_root("pocl", WITH_POCL)) as root:
        for pattern in ("gtrace_*_amd64.deb", "gproxy_*_amd64.deb"):
            shutil.copy(package(pattern), root / "tmp")
        good(root, "apt-get -qq update && apt-get -qq -y install --no-install-recommends /tmp/*.deb")
        said = whole_job(root, "/usr/libexec/gtrace/apps/app_nn")
        good(root, "cd /tmp && python3 -c 'import gtrace; t = gtrace.open(\"/tmp/out/t.db\"); assert t.kernels() and t.calls()'")
        good(root, "test -f /lib/systemd/system/gproxy.service || test -f /usr/lib/systemd/system/gproxy.service")
        good(root, "apt-get -qq -y remove gtrace gproxy && ! test -e /usr/lib/gtrace")
        return said


def test_wheel():
    wheel = package("gtrace-*.whl")
    with Copy(kept_root("pocl", WITH_POCL)) as root:
        shutil.copy(wheel, root / "tmp")
        good(root, f"python3 -m venv /opt/env && /opt/env/bin/pip install -q --no-index /tmp/{wheel.name}")
        said = whole_job(root, "/opt/env/libexec/gtrace/apps/app_nn", PATH="/opt/env/bin:/usr/bin:/bin")
        good(root, "cd /tmp && PATH=/usr/bin:/bin /opt/env/bin/python -c 'import gtrace; t = gtrace.open(\"/tmp/out/t.db\"); "
                   "assert t.kernels() and t.calls(calls=\"clEnqueueNDRangeKernel\")'")
        return said


def main():
    if os.getuid() != 0:
        print("skipped: a clean root needs root")
        return 77
    verdicts = []
    for test in (test_tarball_where_nothing_is, test_tarball, test_deb, test_wheel):
        try:
            said = test()
            verdicts.append(0)
        except Skip as e:
            said = f"skipped: {e}"
            verdicts.append(77)
        except (AssertionError, subprocess.SubprocessError, OSError) as e:
            said = f"FAILED: {e}"
            verdicts.append(1)
        print(f"{test.__name__}: {said}", flush=True)
    return 1 if 1 in verdicts else 77 if set(verdicts) == {77} else 0


if __name__ == "__main__":
    sys.exit(main())
