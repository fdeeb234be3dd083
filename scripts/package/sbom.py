#!/usr/bin/env python3
"""What is inside a release, as CycloneDX 1.5 JSON: sbom.py VERSION LIBCLANG_VERSION LIBCLANG_SHA256 ARTIFACT... > FILE

Versions of libraries that are linked statically, or that lie beside the programs, are those of the Debian packages that they
were taken from. The same artifacts give the same bytes (SOURCE_DATE_EPOCH is the date).
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

# What is inside the tarball and the wheel, and whence: (Debian package, licence, where it is).
LIBRARIES = (
    ("libsqlite3-dev", "blessing", "linked into gtrace, ganalyze"),
    ("libzstd-dev", "BSD-3-Clause", "linked into gtrace, ganalyze"),
    ("libdw-dev", "GPL-2.0-or-later OR LGPL-3.0-or-later", "linked into ganalyze"),
    ("libelf-dev", "GPL-2.0-or-later OR LGPL-3.0-or-later", "linked into ganalyze"),
    ("libcapstone-dev", "BSD-3-Clause", "linked into ganalyze; libcapstone.so.4"),
    ("libffi-dev", "MIT", "linked into the recorder"),
    ("libfmt-dev", "MIT", "linked into the programs"),
    ("libcli11-dev", "BSD-3-Clause", "linked into the programs"),
    ("nlohmann-json3-dev", "MIT", "linked into the programs"),
    ("libxxhash-dev", "BSD-2-Clause", "linked into the recorder"),
    ("zlib1g-dev", "Zlib", "linked into gtrace, ganalyze; libz.so.1"),
    ("libbz2-dev", "bzip2-1.0.6", "linked into ganalyze"),
    ("liblzma-dev", "0BSD", "linked into ganalyze"),
    ("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "linked into the programs"),
    ("libclang-common-14-dev", "Apache-2.0 WITH LLVM-exception", "opencl-c-base.h"),
)


def debian_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def component(package, licence, where):
    version = debian_version(package)
    return version and {
        "type": "library", "bom-ref": package, "name": package, "version": version, "licenses": [{"expression": licence}],
        "purl": f"pkg:deb/debian/{package}@{version}?arch=amd64", "description": where}


def artifact(path):
    return {"type": "file", "bom-ref": path.name, "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]}


def main(version, clang, clang_hash, *paths):
    libraries = [c for c in (component(*row) for row in LIBRARIES) if c]
    libraries.append({
        "type": "library", "bom-ref": "libclang", "name": "libclang", "version": clang, "purl": f"pkg:pypi/libclang@{clang}",
        "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}], "description": "lib/gtrace/private",
        "hashes": [{"alg": "SHA-256", "content": clang_hash}]})
    artifacts = [artifact(p) for p in sorted(map(pathlib.Path, paths))]
    main_component = {"type": "application", "bom-ref": "gtrace", "name": "gtrace", "version": version,
                      "licenses": [{"license": {"id": "Apache-2.0"}}]}
    contents = json.dumps([libraries, artifacts], sort_keys=True)
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, contents)}",
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
                     "component": main_component},
        "components": libraries + artifacts,
        "dependencies": [{"ref": "gtrace", "dependsOn": [c["bom-ref"] for c in libraries]}],
    }, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
