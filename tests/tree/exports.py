#!/usr/bin/env python3
"""What the injected libraries show and need: the loader's functions with the loader's versions, the functions that
they stand before, and nothing else; no library beyond libc's; no TLS that must be allocated.

Usage: exports.py ROOT BUILD
"""

import pathlib
import re
import subprocess
import sys

ALLOCATORS = """malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc pvalloc
malloc_usable_size mmap mmap64 mremap munmap brk sbrk strdup __strdup strndup __strndup wcsdup""".split()
ENTRY_PATHS = """dlopen dlmopen dlsym dlvsym dlclose dlerror pthread_create thrd_create pthread_join
pthread_tryjoin_np pthread_timedjoin_np thrd_join pthread_detach fork vfork execve execv execvp execvpe execl execlp execle
execveat fexecve madvise mprotect pkey_mprotect ioctl
posix_spawn posix_spawnp _exit _Exit quick_exit""".split()
OPERATORS = re.compile(r"^_Z(nw|na|dl|da)")
NEEDED = re.compile(r"^(libc|libm|libdl|libpthread|librt)\.so\.\d+$|^ld-linux.*\.so\.\d+$")


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def exported(path):
    """{name: version} of what a library defines; version nodes themselves are left out."""
    found = {}
    for line in lines("nm", "-D", "--defined-only", path):
        kind, name = line.split()[-2:]
        if kind != "A":
            name, _, version = name.partition("@")
            found[name] = version.lstrip("@")
    return found


def allowed(name):
    return re.match(r"cl[A-Z]|gt_", name) or name in ALLOCATORS or name in ENTRY_PATHS or OPERATORS.match(name)


def dynamic(path, tag):
    return [m[1] for line in lines("readelf", "-d", path) if f"({tag})" in line and (m := re.search(r"\[(.*)\]", line))]


def problems_of(path, loader):
    have = exported(path)
    for name in sorted(have):
        if not allowed(name):
            yield f"exports {name}"
    for name, version in sorted(loader.items()):
        if not re.match(r"cl[A-Z]", name):
            continue
        if name not in have:
            yield f"does not export the loader's {name}"
        elif have[name] != version:
            yield f"exports {name} as version {have[name] or 'none'}, the loader as {version}"
    if dynamic(path, "SONAME") != ["libOpenCL.so.1"]:
        yield f"is called {dynamic(path, 'SONAME')}, not libOpenCL.so.1"
    for library in dynamic(path, "NEEDED"):
        if not NEEDED.match(library):
            yield f"needs {library}"
    dynamic_tls = sum("_DTPMOD64" in line for line in lines("readelf", "-rW", path))
    if dynamic_tls > 1:  # one is the exception state of the static C++ runtime
        yield f"has {dynamic_tls} thread-local variables that are allocated on first use"


def icd_problems(path):
    """The virtual platform is a driver: what a loader asks of one, and nothing else."""
    entrances = {"clIcdGetPlatformIDsKHR", "clGetExtensionFunctionAddress", "clGetPlatformInfo"}
    if not any("NODELETE" in line for line in lines("readelf", "-d", path)):
        yield "may be unloaded, and its threads go on"
    for name in sorted(set(exported(path)) ^ entrances):
        yield f"{'exports' if name in exported(path) else 'does not export'} {name}"
    for library in dynamic(path, "NEEDED"):
        if not NEEDED.match(library):
            yield f"needs {library}"


def system_loader():
    for line in lines("/sbin/ldconfig", "-p"):
        if line.strip().startswith("libOpenCL.so.1 ") and "x86-64" in line:
            return exported(line.split()[-1])
    sys.exit("no libOpenCL.so.1 is installed to compare with")


def main(build):
    libraries = sorted((pathlib.Path(build) / "lib" / "gtrace").glob("*/libOpenCL.so.1"))
    loader = system_loader()
    problems = [f"{p}: {what}" for p in map(str, libraries) for what in problems_of(p, loader)]
    icd = str(pathlib.Path(build) / "lib" / "gtrace" / "libgtrace-remote.so")
    problems += [f"{icd}: {what}" for what in icd_problems(icd)]
    for p in problems:
        print(p)
    print(f"exports: {len(libraries)} libraries, {len(problems)} problems")
    return 1 if problems or len(libraries) < 2 else 0  # the tracer's and the optimizer's


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
