#!/usr/bin/env python3
"""What clients' programs can read of the files of who runs gproxy: those of drivers, and no others.

Usage: proxy_sandbox.py BUILD
"""

import os
import pathlib

from proxy_job import *  # noqa: F403

SECRET = "the_secret_of_the_owner"


def secret_at(path):
    """Somewhere no driver needs: what it holds makes a compiler say it."""
    path = pathlib.Path(path).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{SECRET}\n")
    return str(path)


def built(proxy, source):
    """The code of a build at the proxy, and all that it says."""
    pathlib.Path("source.cl").write_text(source)
    outcome = proxy.client("build:source.cl")
    code, log = outcome.text.split("\n", 1)
    return int(code), log


def includes_of(path):
    climbing = "../" * 40 + path.lstrip("/")
    return [f'#include "{path}"\n', f"#include <{path}>\n", f'#include "{climbing}"\n', f'#include "/proc/self/root{path}"\n']


def test_no_secret_is_included():
    places = [secret_at("home/secret.h"), secret_at("data/secret.h")]
    with serving(env={"HOME": os.path.abspath("home")}) as proxy:
        check("files " not in proxy.out, "it says that there is no sandbox")
        for source in sum(map(includes_of, [*places, proxy.token, "/etc/shadow"]), []):
            code, log = built(proxy, source + "kernel void k() {}")
            check(code != 0 and SECRET not in log, f"{source}: {code}, {log}")
            for word in pathlib.Path(proxy.token).read_text().split():
                check(word not in log, f"{source}: the token is in {log}")
        same(built(proxy, "kernel void k() {}"), (0, ""), "a build without includes")


def test_without_a_sandbox_it_can_be():
    """The other test could not fail otherwise."""
    place = secret_at("home/secret.h")
    with serving("--no-sandbox") as proxy:
        check("--no-sandbox" in proxy.out, "it does not say that there is no sandbox")
        for source in includes_of(place):
            code, log = built(proxy, source + "kernel void k() {}")
            check(code != 0 and SECRET in log, f"{source}: {code}, {log}")


def test_drivers_work_inside():
    """With a cache that is kept, and one that has to be made."""
    cache = os.path.abspath("cache")
    with serving(env={"XDG_CACHE_HOME": cache}) as proxy:
        same(good(CLIENT, proxy.url, proxy.token, "print:2", env=proxy.env).text, "line 0\nline 1\n", "what kernels print")
        check([p for p in pathlib.Path(cache).rglob("*") if p.is_file()], "nothing is in the driver's cache")


def test_temporary_files_go():
    os.makedirs("tmp")
    with serving(env={"TMPDIR": os.path.abspath("tmp")}) as proxy:
        same(proxy.client("survey").code, 0, "a client")
        same(sum(not f.endswith(".lock") for f in os.listdir("tmp")), 1, "folders for temporary files")
        same(proxy.stop(), 0, "exit status")
        same(os.listdir("tmp"), [], "left behind")


if __name__ == "__main__":
    main(globals())
