#!/usr/bin/env python3
"""Every command block (```sh) of the tutorials runs, page by page, in one shell that stops at the first failure; ./app is a
program of the benchmarks.

Usage: tutorials.py BUILD FOLDER_OF_TUTORIALS
"""

import pathlib
import socket

from job import *  # noqa: F403

FOLDER = pathlib.Path(arguments[0])
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return str(s.getsockname()[1])


def follow(name):
    """The page's commands in an empty folder; what they said."""
    blocks = BLOCK.findall((FOLDER / f"{name}.md").read_text())
    check(len(blocks) >= 3, f"{len(blocks)} command blocks")
    shutil.copy(app("nn"), "app")
    script = "set -eE\ntrap 'kill $(jobs -p) 2>/dev/null || true' ERR\n" + "".join(blocks)
    folder = pathlib.Path("run").resolve()
    folder.mkdir(mode=0o700)
    env = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_RUNTIME_DIR": str(folder)}
    pathlib.Path("script.sh").write_text(script.replace("7447", free_port()))
    done = good("bash", "script.sh", env=env, timeout=300)
    return done.text + done.err_text


def test_slow_program():
    said = follow("slow-program")
    for word in ("Next", "PASS", "Transfers", "real"):
        check(word in said, f"no {word!r}")


def test_miscompile():
    said = follow("miscompile")
    check("and no difference" in said, "the two devices were not compared")


def test_cluster():
    said = follow("cluster")
    for word in ("use it: goptimize run --remote", "PASS", "1 devices of"):
        check(word in said, f"no {word!r}")


def test_laptop():
    said = follow("laptop")
    for word in ("1GbE", "wan", "PASS", "1 devices of"):
        check(word in said, f"no {word!r}")


def test_all_pages():
    pages = {p.stem for p in FOLDER.glob("*.md")} - {"README"}
    tests = {n.removeprefix("test_").replace("_", "-") for n in globals() if n.startswith("test_")} - {"all-pages"}
    same(pages, tests, "pages and tests")


main(globals())
