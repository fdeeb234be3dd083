#!/usr/bin/env python3
"""Strangers at the port of gproxy: refused, forgotten, and nobody who works there notices.

Usage: proxy_strangers.py BUILD
"""

import contextlib
import os
import pathlib
import socket
import time

from proxy_job import *  # noqa: F403


@contextlib.contextmanager
def undisturbed(*arguments):
    """A proxy with a session that must survive what happens inside the block, and room for another one after it."""
    with serving(*arguments) as proxy:
        client = proxy.hold()
        yield proxy
        check(client.works(), "the session that ran is broken")
        same(client.finish(), 0, "its client's exit status")
        same(proxy.client("survey").code, 0, "the next client")
        check(proxy.process.poll() is None, "the proxy ended")


def token_file(digits, name="token"):
    path = pathlib.Path(name)
    path.write_text(digits + "\n")
    path.chmod(0o600)
    return path


def test_a_wrong_token():
    with undisturbed() as proxy:
        refused = proxy.client("survey", token=token_file("0" * 64))
        check(refused.code != 0 and "token" in refused.err_text, "no word of the token")
        until(lambda: "was refused" in proxy.log, "the log tells")
        same(proxy.status()["refused_total"], 1, "callers refused")
        for secret in (pathlib.Path(proxy.token).read_text().strip(), "0" * 64):
            check(secret not in proxy.log, "a token is in the log")


def test_garbage():
    with undisturbed() as proxy:
        for data in (b"GET / HTTP/1.0\r\n\r\n", os.urandom(100_000), b"\0" * 64, b"GTLINK\r\n" + b"\xff" * 56,
                     hello(version=(7, 9)), hello(purpose=9), hello(tls=1), hello(proof=3), hello(purpose=2),
                     hello(purpose=3), hello(purpose=4)):
            with stranger(proxy) as s:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    s.sendall(data)
                check(is_closed_by_proxy(s), f"{data[:20]} is not turned away")


def test_garbage_after_a_good_hello():
    with undisturbed() as proxy:
        for data in (b"", b"\xff" * 32, os.urandom(200_000)):
            with stranger(proxy, hello()) as s:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    s.sendall(data)
                check(is_closed_by_proxy(s), "a stranger with a good hello may stay")


def test_a_stranger_with_the_name_of_a_session():
    with undisturbed() as proxy:
        name = os.urandom(16)
        with stranger(proxy, hello(session=name)) as first:
            same(first.recv(8), b"GTLA\x01\x00\x00\x00", "the answer to the first of a name")  # else both come at once
            with stranger(proxy, hello(session=name)) as second:
                same(second.recv(8), b"GTLA\x01\x00\x02\x00", "the answer to the second: unauthorized")
            check(is_closed_by_proxy(first), "the first stays without a proof")


def test_half_a_hello_and_silence():
    with undisturbed() as proxy, stranger(proxy, hello()[:30]) as half, stranger(proxy) as silent:
        check(is_closed_by_proxy(half) and is_closed_by_proxy(silent), "they may stay")


def test_a_hello_byte_by_byte():
    with undisturbed() as proxy, stranger(proxy) as slow:
        start = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for byte in hello():
                slow.sendall(bytes([byte]))
                time.sleep(0.2)
        check(time.monotonic() - start < 12, "a slow hello is waited for")


def test_more_silent_strangers_than_are_waited_for():
    with undisturbed() as proxy:
        silent = [stranger(proxy) for _ in range(300)]
        same(proxy.client("survey").code, 0, "a client among 300 silent strangers")
        for s in silent:
            s.close()


def test_a_thousand_short_connections():
    with undisturbed() as proxy:
        descriptors_before = descriptors(proxy.pid)
        for i in range(1000):
            stranger(proxy, (b"", b"x", hello()[:63])[i % 3]).close()
        until(lambda: proxy.status()["turned_away_total"] >= 1000, "all of them are gone")
        check(descriptors(proxy.pid) <= descriptors_before + 2, "descriptors are lost")
        check(proxy.log.count("\n") < 300, "strangers fill the log")


def test_many_with_a_wrong_token_at_once():
    with undisturbed() as proxy:
        many = [stranger(proxy, hello() + b"x" * 64) for _ in range(30)]
        same(proxy.client("survey").code, 0, "a client among strangers")
        for s in many:
            s.close()


def test_a_port_scan():
    with undisturbed() as proxy:
        for how in (socket.SHUT_RDWR, socket.SHUT_WR):
            with stranger(proxy) as s:
                s.shutdown(how)


def test_token_files_that_are_not():
    folder = os.path.abspath("t")
    os.makedirs(folder)
    open_to_all = token_file("1" * 64, f"{folder}/open")
    open_to_all.chmod(0o644)
    one_line(refused_start("--token-file", open_to_all), USAGE, "chmod 600")
    one_line(refused_start("--token-file", token_file("xyz", f"{folder}/short")), USAGE, "64 hex")


if __name__ == "__main__":
    main(globals())
