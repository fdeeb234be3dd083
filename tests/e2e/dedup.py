#!/usr/bin/env python3
"""Writes that go by name where the proxy has kept the bytes: the same bytes arrive, with any store, damage and company.

Usage: dedup.py BUILD DOCS
The oracle is the same program on the driver itself. Names are forced (--dedup always): the loopback address is too fast
for them to pay.
"""

import pathlib
import random
import signal

from proxy_job import *  # noqa: F403
from proxy_tls import certificate, make_certificates
from remote_job import natively, proxy, remotely

JOB = tests_dir / "resend"
MiB = 1 << 20
known = lambda report: report["remote"]["dedup"]


def there(p, seed, steps=12, dedup="always", code=0, env=None, options=()):
    """A run behind the proxy, which must do what the driver does; gives its report."""
    outcome = remotely(p, JOB, seed, steps, env=env,
                       options=("--only", "remote", "--dedup", dedup, "--report", "report.json", *options))
    check(outcome.code == code, f"exit status {outcome.code}: {outcome.err_text} {p.log}")
    same(outcome.out, natively(JOB, seed, steps).out, f"seed {seed}")
    return known(json.loads(pathlib.Path("report.json").read_text()))


def test_the_second_run_sends_hardly_anything():
    with proxy() as p:
        first, second = there(p, 1), there(p, 1)
        check(first["bytes_missed"] == 0, first)
        check(second["bytes_not_sent"] > 20 * MiB and second["bytes_not_sent"] > first["bytes_not_sent"], second)
        status = p.status()
        same(status["known_bytes_total"], first["bytes_not_sent"] + second["bytes_not_sent"], "what the proxy had")
        check(status["kept_bytes_total"] > 20 * MiB, status)
        table = run(GPROXY, "status", p.url, env=p.env).text
        check("not sent again" in table, table)


def test_nothing_goes_by_name_where_it_does_not_pay_or_must_not():
    with proxy() as p:
        same(there(p, 2, dedup="never")["chunks"], 0, "chunks by name")
        same(p.status()["kept_bytes_total"], 0, "bytes kept")
        outcome = remotely(p, JOB, 2, 4, url=f"shm:{p.port}",
                           options=("--only", "remote", "--dedup", "always", "--report", "report.json"))
        same(outcome.code, 0, "exit status")
        same(known(json.loads(pathlib.Path("report.json").read_text()))["chunks"], 0, "chunks by name in shared memory")
        same(p.status()["kept_bytes_total"], 0, "bytes kept")
        for seed in range(2, 6):  # whatever the machine is busy with
            there(p, seed, dedup="auto")
    with proxy("--store", "0") as p:
        same(there(p, 2)["chunks"], 0, "chunks by name without a store")


def test_random_programs_with_small_stores():
    for store in "1M", "3M", "10M":
        with proxy("--store", store) as p:
            for seed in range(10, 16):
                there(p, seed)


def test_two_programs_at_a_time_with_one_store():
    with proxy("--store", "8M") as p:
        env = {**os.environ, **p.env}
        command = [GOPTIMIZE, "run", "--remote", p.url, "--only", "remote", "--dedup", "always", "--", str(JOB)]
        both = [subprocess.Popen([*command, str(seed), "20"], env=env, stdout=subprocess.PIPE) for seed in (30, 30, 31)]
        outs = [process.communicate(timeout=120)[0] for process in both]
        for seed, out in zip((30, 30, 31), outs):
            same(out, natively(JOB, seed, 20).out, f"seed {seed}")


def test_a_store_on_disk_outlives_the_proxy():
    with proxy("--store-dir", "kept") as p:
        there(p, 3)
    same(os.stat("kept").st_mode & 0o777, 0o700, "the folder's mode")
    files = list(pathlib.Path("kept").glob("*.chunks"))
    same(len(files), 1, "files of one owner")
    same(os.stat(files[0]).st_mode & 0o777, 0o600, "the file's mode")
    with proxy("--store-dir", "kept") as p:
        second = there(p, 3)
        same(second["bytes_missed"], 0, "bytes missed")
        check(second["bytes_not_sent"] > 20 * MiB, second)


def test_damaged_changed_and_cut_files():
    rng = random.Random(1)
    for turn in range(4):
        with proxy("--store", "64M", "--store-dir", "kept") as p:
            there(p, 4)
            file = next(pathlib.Path("kept").glob("*.chunks"))
            with file.open("r+b") as f:  # also while it is used
                for _ in range(200):
                    f.seek(rng.randrange(64 * MiB) if turn < 2 else rng.randrange(20_000))
                    f.write(b"damage")
                if turn == 2:
                    f.truncate(5 * MiB)
            there(p, 4)
    with proxy("--store", "32M", "--store-dir", "kept") as p:
        there(p, 4)


def test_a_disk_that_is_full():
    """Files of this process may have as many bytes as the first pieces need."""
    if os.geteuid() != 0:
        raise Skip("a small disk needs root")
    os.makedirs("disk", exist_ok=True)
    if run("mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", "disk").code != 0:
        raise Skip("nothing can be mounted here")
    try:
        with proxy("--store", "64M", "--store-dir", "disk") as p:
            there(p, 5)
            there(p, 5)
    finally:
        run("umount", "-l", "disk")


def test_a_folder_that_others_may_read_is_refused():
    os.makedirs("open", exist_ok=True)
    os.chmod("open", 0o755)
    outcome = refused_start("--store-dir", "open", "--listen", "tcp://127.0.0.1:0")
    check(outcome.code != 0 and "chmod 700" in outcome.err_text and outcome.err_text.count("\n") == 1, outcome.err_text)
    outcome = refused_start("--store", "5K", "--listen", "tcp://127.0.0.1:0")
    check(outcome.code != 0 and "--store" in outcome.err_text, outcome.err_text)


def test_owners_share_nothing():
    """By certificates: what one has sent is not there for the other, and is there for himself."""
    make_certificates()
    good("sh", "-c", "openssl req -newkey ed25519 -noenc -keyout bob.key -out bob.csr -subj /CN=bob && "
         "openssl x509 -req -in bob.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out bob.crt -days 2")
    with proxy(*certificate("node"), "--store-dir", "kept", listen="tls://127.0.0.1:0") as p:
        ann = there(p, 6, options=certificate("ann"))
        bob = there(p, 6, options=certificate("bob"))
        same(bob, ann, "what another's run found")
        again = there(p, 6, options=certificate("ann"))
        check(again["bytes_not_sent"] > ann["bytes_not_sent"], again)
        same(len(list(pathlib.Path("kept").glob("*.chunks"))), 2, "files")


def test_a_proxy_that_is_killed_while_chunks_are_outstanding():
    with proxy() as p:
        there(p, 7)
        process = subprocess.Popen([GOPTIMIZE, "run", "--remote", p.url, "--only", "remote", "--dedup", "always", "--",
                                    str(JOB), "7", "100000"], env={**os.environ, **p.env}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        p.sessions(1)
        time.sleep(1.0)
        for worker in p.workers():
            os.kill(worker, signal.SIGKILL)
        err = process.communicate(timeout=20)[1]
        check(process.returncode == 1, f"{process.returncode}: {err}")


main(dict(globals()))
