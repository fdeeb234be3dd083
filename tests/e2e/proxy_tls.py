#!/usr/bin/env python3
"""gproxy over TLS, with the certificates that the commands of docs/gproxy.md make.

Usage: proxy_tls.py BUILD DOCS
"""

import pathlib
import signal

from proxy_job import *  # noqa: F403


def commands_of_the_documentation():
    text = (pathlib.Path(arguments[0]) / "gproxy.md").read_text()
    block = re.search(r"runs these lines -->\n```\n(.*?)```", text, re.S)[1]
    return block.strip().splitlines()


def make_certificates():
    needs("openssl")
    commands = commands_of_the_documentation()
    check(len(commands) <= 6, "more than six commands")
    for command in commands:
        good("sh", "-c", command)


def serving_tls():
    return serving("--cert", "node.crt", "--key", "node.key", "--ca", "ca.crt", listen="tls://127.0.0.1:0")


def certificate(name, ca="ca"):
    return ("--cert", f"{name}.crt", "--key", f"{name}.key", "--ca", f"{ca}.crt")


def test_certificates_of_the_documentation():
    make_certificates()
    with serving_tls() as proxy:
        same(proxy.client("survey", *certificate("ann")).code, 0, "ann")
        same(proxy.client("survey", *certificate("ann"), url=f"tls://localhost:{proxy.port}").code, 0, "ann, by name")
        same(proxy.client("survey", url=f"shm:{proxy.port}").code, 0, "shared memory beside it")


def test_strangers():
    make_certificates()
    good("sh", "-c", 'openssl req -x509 -newkey ed25519 -noenc -keyout eve.key -out eve.crt -subj "/CN=ann"')
    with serving_tls() as proxy:
        held = Held(proxy, proxy.url, proxy.token, *certificate("ann"))
        for who in (certificate("eve"), certificate("ann", ca="eve"), certificate("eve", ca="eve")):
            refused = proxy.client("survey", *who)
            check(refused.code == 1 and refused.err_text.count("\n") == 1, f"{who}: {refused.code} {refused.err_text}")
        plain = proxy.client("survey", url=f"tcp://127.0.0.1:{proxy.port}")
        check(plain.code == 1, "a client without TLS is let in")
        check(held.works(), "the session that ran is broken")
        held.finish()


def test_new_certificates_after_sighup():
    make_certificates()
    with serving_tls() as proxy:
        held = Held(proxy, proxy.url, proxy.token, *certificate("ann"))
        make_certificates()
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: proxy.client("survey", *certificate("ann")).code == 0, "the new certificates are used")
        check(held.works(), "a session from before is broken")
        held.finish()


if __name__ == "__main__":
    main(globals())
