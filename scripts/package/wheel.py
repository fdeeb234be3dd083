#!/usr/bin/env python3
"""The Python wheel: the package `gtrace`, and the commands among the environment's scripts.

Usage: wheel.py STAGE OUT VERSION GLIBC        STAGE: a portable installation with its private libraries
SOURCE_DATE_EPOCH is the date of every file. Bytes are the same every time.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

SUMMARY = "Traces OpenCL programs, explains and speeds them up; reads traces into data frames"


class Wheel:
    def __init__(self, path, date):
        self._zip, self._date, self._record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9), date, []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, self._date)
        info.external_attr, info.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record):
        self._record.append(f"{record},,")
        info = zipfile.ZipInfo(record, self._date)
        info.external_attr = 0o100644 << 16
        self._zip.writestr(info, "\n".join(self._record) + "\n")
        self._zip.close()


def files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file():  # links become files: a wheel has none
            yield path, path.relative_to(folder).as_posix()


def main(stage, out, version, glibc):
    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_x86_64"
    path = out / f"gtrace-{version}-{tag}.whl"
    wheel, info, data = Wheel(path, date), f"gtrace-{version}.dist-info", f"gtrace-{version}.data"
    for file, name in files(stage / "share" / "gtrace" / "python" / "gtrace"):
        wheel.add(f"gtrace/{name}", file.read_bytes())
    for file, name in files(stage):
        top, _, rest = name.partition("/")
        mode = 0o755 if os.access(file, os.X_OK) else 0o644
        if top == "bin":
            wheel.add(f"{data}/scripts/{rest}", file.read_bytes(), 0o755)
        elif top in ("lib", "libexec", "share") and "/systemd/" not in name and "gtrace/python/" not in name and \
                not name.endswith("/libOpenCL.so"):
            wheel.add(f"{data}/data/{name}", file.read_bytes(), mode)
    wheel.add(f"{info}/METADATA", (f"Metadata-Version: 2.1\nName: gtrace\nVersion: {version}\nSummary: {SUMMARY}\n"
                                   "License: Apache-2.0\nRequires-Python: >=3.8\nProvides-Extra: pandas\n"
                                   "Requires-Dist: pandas; extra == 'pandas'\n"
                                   "Classifier: Operating System :: POSIX :: Linux\n").encode())
    wheel.add(f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: gtrace\nRoot-Is-Purelib: false\nTag: {tag}\n").encode())
    wheel.close(f"{info}/RECORD")
    print(f"{path}: {path.stat().st_size // 1000000} MB")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:5])
