#!/usr/bin/env python3
"""Transfers that go compressed: the same bytes arrive, whatever they are, both ways.

Usage: compress.py BUILD
The oracle is the same program on the driver itself, or the program, which reads back what it sent. Compression is forced
(--compress 1): the loopback address is too fast for it to pay.
"""

import pathlib
import signal

from proxy_job import *  # noqa: F403
from remote_job import client, natively, proxy, remotely

MiB = 1 << 20
KINDS = "floats", "weights", "doubles", "text", "random", "zeros", "mixed"


def sent_and_read(p, kind, MiBs, each=4, compress="1", url=None, options=()):
    """A run behind the proxy; what its report says of compression."""
    outcome = remotely(p, tests_dir / "sent_and_read", kind, MiBs, each, url=url,
                       options=("--only", "remote", "--compress", compress, "--report", "report.json", *options))
    same(outcome.code, 0, f"exit status of {kind}: {outcome.err_text} {p.log}")
    return json.loads(pathlib.Path("report.json").read_text())["remote"]["compress"], outcome.err_text


def test_every_kind_of_data_both_ways():
    with proxy("--store", "0") as p:
        sent = read = 0
        for kind in KINDS:
            report, text = sent_and_read(p, kind, 24)
            saved = [report["bytes_not_sent"], report["bytes_not_read"]]
            least = {"random": 0, "zeros": 23, "text": 10, "mixed": 5}.get(kind, 1)
            check(all(least * MiB <= n <= 24 * MiB for n in saved), f"{kind}: {report}")
            same("the rest was compressed" in text, kind != "random", f"{kind} is told of: {text}")
            sent, read = sent + saved[0], read + saved[1]
        status = p.status()
        same((status["packed_bytes_in_total"], status["packed_bytes_out_total"]), (sent, read), "what the proxy counts")
        check("compressed:" in run(GPROXY, "status", p.url, env=p.env).text, "gproxy status")


def test_with_names_beside_it():
    with proxy() as p:
        for _ in range(2):
            report, _ = sent_and_read(p, "mixed", 24, options=("--dedup", "always"))
        whole = json.loads(pathlib.Path("report.json").read_text())["remote"]
        check(whole["dedup"]["bytes_not_sent"] > 20 * MiB, whole)
        check(report["bytes_not_read"] > 5 * MiB, whole)


def test_nothing_is_compressed_where_it_does_not_pay_or_must_not():
    nothing = dict.fromkeys(("chunks_sent", "bytes_not_sent", "chunks_read", "bytes_not_read"), 0)
    with proxy() as p:
        same(sent_and_read(p, "zeros", 16, compress="never")[0], nothing, "compressed although it must not be")
        same(sent_and_read(p, "zeros", 16, url=f"shm:{p.port}")[0], nothing, "compressed in shared memory")
        sent_and_read(p, "mixed", 64, compress="auto")  # whatever the machine is busy with


def test_programs_that_do_everything():
    with proxy() as p:
        for program in (("resend", 21, 12), ("random_commands", 51, 40), ("random_commands", 91, 40, "plain")):
            there = remotely(p, tests_dir / program[0], *program[1:], options=("--only", "remote", "--compress", "1"))
            same((there.code, there.out), (0, natively(tests_dir / program[0], *program[1:]).out), program)


def test_a_level_that_is_none_is_refused():
    for level in "0", "20", "fast", "1x", "-1", "":
        outcome = run(GOPTIMIZE, "run", "--remote", "tcp://127.0.0.1:1", f"--compress={level}", "--", "true")
        check(outcome.code not in (0, 1) and "--compress" in outcome.err_text, f"{level}: {outcome.code} {outcome.err_text}")


def test_a_proxy_that_is_killed_meanwhile():
    with proxy() as p:
        process = subprocess.Popen([GOPTIMIZE, "run", "--remote", p.url, "--only", "remote", "--compress", "1", "--",
                                    str(tests_dir / "sent_and_read"), "mixed", "48", "4", "10000"],
                                   env={**os.environ, **client(p)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        for worker in p.workers():
            os.kill(worker, signal.SIGKILL)
        err = process.communicate(timeout=30)[1].decode()
        check(process.returncode == 1 and "not what was sent" not in err, f"{process.returncode}: {err}")


main(dict(globals()))
