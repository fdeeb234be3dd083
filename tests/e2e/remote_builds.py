#!/usr/bin/env python3
"""What one client of a proxy has built the next one does not compile again: the driver keeps it, and has a place for it.

Usage: remote_builds.py BUILD
"""

import configparser
import pathlib

from job import *  # noqa: F403
from remote_job import DEVICE, proxy, remotely, ways


def compiled(folder):
    """What PoCL made, and when."""
    return {f: f.stat().st_mtime_ns for kind in ("*.bc", "*.so") for f in folder.rglob(kind)}


def test_the_next_client_finds_what_was_built():
    folder = pathlib.Path("kept").resolve()
    folder.mkdir()
    DEVICE["POCL_CACHE_DIR"] = str(folder)
    with proxy() as p:
        before = compiled(folder)
        same(remotely(p, app("vadd")).code, 0, "exit status")
        built = compiled(folder)
        check(len(built) >= len(before) + 2, f"a program and a kernel are kept: {built}")
        for url in ways(p):
            again = remotely(p, app("vadd"), url=url)
            same((again.code, compiled(folder)), (0, built), f"nothing is compiled for the next client, {url}")


def test_the_service_gives_drivers_a_home():
    """NVIDIA's driver keeps builds in $HOME/.nv, others in $XDG_CACHE_HOME; a dynamic user has neither by itself."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(pathlib.Path(arguments[0]) / "examples" / "gproxy.service")
    service = unit["Service"]
    home = f"/var/lib/{service['StateDirectory']}"
    given = dict(setting.split("=", 1) for setting in service["Environment"].split())
    same((given.get("HOME"), given.get("XDG_CACHE_HOME")), (home, home), "places for what drivers keep")


main(globals())
