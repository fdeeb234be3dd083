#!/usr/bin/env python3
"""What scripts/release.sh made: checksums, the list of what is inside, no path of this machine, no library that the tarball
lacks, nothing that lintian has against the .debs, and the same bytes when a package is made again.

Usage: release.py ROOT PACKAGES         exit status 77: there are no packages
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT, PACKAGES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
GLIBC = (2, 36)  # Debian 12's; docs/PLATFORMS.md says so
OF_THE_SYSTEM = re.compile(r"^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|libOpenCL)\.so\.\d+$")
MAKERS = {"tarball": ("portable", "gtrace-*-x86_64.tar.zst"), "wheel": ("portable", "gtrace-*.whl"),
          "deb": ("system", "*.deb")}


def sums():
    for line in (PACKAGES / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        if hashlib.sha256((PACKAGES / name).read_bytes()).hexdigest() != digest:
            yield f"{name}: another checksum"


def contents():
    bom = json.loads(next(PACKAGES.glob("*.cdx.json")).read_text())
    names = {c["name"] for c in bom["components"]}
    for name in ("libclang", "libsqlite3-dev", "libzstd-dev", "libdw-dev"):
        if name not in names:
            yield f"SBOM: {name} is missing"
    for path in PACKAGES.glob("gtrace*"):
        if path.is_file() and path.suffix != ".json" and path.name not in names:
            yield f"SBOM: {path.name} is missing"
    if any(not c.get("version") and c["type"] == "library" for c in bom["components"]):
        yield "SBOM: a library without a version"


def elf_problems(folder):
    """What the programs of an unpacked tarball ask for."""
    here = {p.name for p in (folder / "lib" / "gtrace" / "private").iterdir()}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        name = path.relative_to(folder)
        dynamic = subprocess.run(["readelf", "-W", "-d", "-V", str(path)], capture_output=True, text=True).stdout
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if not OF_THE_SYSTEM.match(needed) and needed not in here:
                yield f"{name}: needs {needed}"
        newest = max(((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", dynamic)), default=(2, 0))
        if newest > GLIBC:
            yield f"{name}: needs glibc {newest}"
        if str(ROOT).encode() in path.read_bytes():
            yield f"{name}: names the folder that it was built in"


def tarball_problems():
    for path in PACKAGES.glob("gtrace-*-x86_64.tar.zst"):
        if path.stat().st_size > 60_000_000:
            yield f"{path.name}: {path.stat().st_size} bytes, 60 MB at most"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["tar", "-C", folder, "-xf", str(path)], check=True)
            yield from elf_problems(next(pathlib.Path(folder).iterdir()))


def wheel_problems():
    for path in PACKAGES.glob("*.whl"):
        wheel = zipfile.ZipFile(path)
        record = next(n for n in wheel.namelist() if n.endswith("/RECORD"))
        listed = {line.rsplit(",", 2)[0] for line in wheel.read(record).decode().splitlines()}
        if listed != set(wheel.namelist()):
            yield f"{path.name}: RECORD and files differ"


def debian_problems():
    if not shutil.which("lintian"):
        print("lintian: skipped: it is not installed")
        return
    for path in sorted(PACKAGES.glob("*.deb")):
        done = subprocess.run(["lintian", "--fail-on", "error,warning", str(path)], capture_output=True, text=True)
        yield from done.stdout.splitlines() if done.returncode == 0 else [f"{path.name}: {done.stdout}{done.stderr}"]


def made_again():
    """The same bytes from the same build."""
    for kind, (build, pattern) in MAKERS.items():
        folder = ROOT / "build" / build
        first = {p.name: p.read_bytes() for p in PACKAGES.glob(pattern)}
        if not first or not (folder / "CMakeCache.txt").exists():
            print(f"made again: {kind}: skipped: no package or no build")
            continue
        with tempfile.TemporaryDirectory() as out:
            env = dict(os.environ, TMPDIR=out)
            done = subprocess.run([str(ROOT / "scripts" / "package" / f"{kind}.sh"), str(folder), f"{out}/out"], env=env,
                                  capture_output=True, text=True)
            if done.returncode:
                yield f"{kind}: {done.stderr[-500:]}"
                continue
            for path in pathlib.Path(out, "out").glob(pattern):
                if first.get(path.name) != path.read_bytes():
                    yield f"{path.name}: other bytes when it is made again"


def main():
    if not (PACKAGES / "SHA256SUMS").exists():
        print(f"skipped: nothing in {PACKAGES}: scripts/release.sh")
        return 77
    problems = [*sums(), *contents(), *tarball_problems(), *wheel_problems(), *debian_problems(), *made_again()]
    print("\n".join(problems) or "release: no problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
