#!/usr/bin/env python3
"""Writes a profile of a program from its machine code alone: every call of an allocation function becomes a site.

make_profile.py BINARY OUTPUT [key=value ...]     key=value: of every site (min_bytes, transfers_each, ...) or
                                                  eligible=true|false

Lets the optimizer be tested without a trace. Needs objdump and readelf.
"""
import os
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sites(binary):
    """(function called, return address) of each call."""
    previous = None
    for line in output_of("objdump", "-d", "--no-show-raw-insn", binary).splitlines():
        match = re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if not match:
            continue
        if previous:
            yield previous, int(match[1], 16)
        call = re.search(r"<(malloc|calloc|realloc|aligned_alloc|posix_memalign|_Znwm|_Znam)(@plt)?>", match[3])
        previous = call[1] if match[2].startswith("call") and call else None


def main():
    binary, path = sys.argv[1:3]
    values = {"min_bytes": "1024", "max_bytes": str(1 << 40), "allocations": "10", "transfers_each": "2",
              "h2d_bytes": "20000000", "d2h_bytes": "20000000", "transfer_ns": "1000000", "policy": "auto"}
    values.update(argument.split("=", 1) for argument in sys.argv[3:])
    eligible = values.pop("eligible", "true")
    build_id = re.search(r"Build ID: ([0-9a-f]+)", output_of("readelf", "-n", binary))
    build_id = values.pop("build_id", build_id[1] if build_id else "")
    with open(path, "w") as out:
        out.write(f'version = 1\n\n[program]\npath = "{binary}"\nbuild_id = "{build_id}"\n'
                  f'dispatch_ratio = 5\neligible = {eligible}\n')
        for call, offset in sites(binary):
            out.write(f'\n[site]\nbuild_id = "{build_id}"\nmodule = "{os.path.basename(binary)}"\n'
                      f'offset = {offset:#x}\ncall = "{call}"\n')
            out.writelines(f"{key} = {value}\n" for key, value in values.items())


main()
