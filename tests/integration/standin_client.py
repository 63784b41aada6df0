# SPDX-License-Identifier: Apache-2.0
"""What the tests that drive mongocdc-standin with pymongo share: the program as a process, clients, and how tests run."""
import contextlib
import re
import signal
import subprocess
import sys
import traceback

import pymongo
from pymongo import errors

TESTS = []
BINARY = []  # one path, set by run_tests


def test(function):
    TESTS.append(function)
    return function


@contextlib.contextmanager
def program(*options):
    """A running stand-in; gives its address and ends it cleanly."""
    process = subprocess.Popen([BINARY[0], *options], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        found = re.fullmatch(
            r"stand-in (replica set \S+|standalone) listening on "
            r"(mongodb://127\.0\.0\.1:\d+(,127\.0\.0\.1:\d+)*/\S*)\n", line)
        assert found, f"unexpected first line: {line!r}"
        yield found.group(2)
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=10)
        process.stdout.close()
    assert code == 0, f"exit code {code}"


@contextlib.contextmanager
def connected(uri, **options):
    client = pymongo.MongoClient(uri, serverSelectionTimeoutMS=5000, **options)
    try:
        yield client
    finally:
        client.close()


@contextlib.contextmanager
def fresh(*options, **client_options):
    with program(*options) as uri, connected(uri, **client_options) as client:
        yield client


def refused(code, call):
    """The server's error of `call`, which must have this code."""
    try:
        call()
    except (errors.OperationFailure, errors.NotPrimaryError) as e:
        assert e.details["code"] == code, f"not code {code}: {e}"
        return e
    raise AssertionError(f"not refused with {code}")


def take(stream, count):
    out = []
    for _ in range(40):
        if len(out) == count:
            return out
        change = stream.try_next()
        if change is not None:
            out.append(change)
    raise AssertionError(f"{len(out)} events instead of {count}: {out}")


def raw_stream(client, db, target, session=None, stage=None, more=()):
    reply = client[db].command(
        {"aggregate": target, "pipeline": [{"$changeStream": stage or {}}, *more], "cursor": {"batchSize": 0}},
        session=session)
    return reply["cursor"]


def run_tests(usage):
    if len(sys.argv) != 2:
        sys.exit(usage)
    BINARY.append(sys.argv[1])
    failed = 0
    for function in TESTS:
        try:
            function()
            print(f"ok    {function.__name__}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL  {function.__name__}", flush=True)
            traceback.print_exc()
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
