# SPDX-License-Identifier: Apache-2.0
"""The service as a process with a webhook sink: what a receiver gets, also across SIGKILL and its own absence.

    webhook_test.py --mongocdc BIN --standin BIN

Prints a line a case and ends with "N passed, N failed"; exit code 1 when one failed.
"""
import base64
import hashlib
import hmac
import json
import os
import signal
import sqlite3
import subprocess
import time
import urllib.parse

import pymongo

from processes import Standin, options, run_cases, wait_for
from receiver import Receiver

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdefghijklmn").decode()


class Service:
    """One run of mongocdc in a folder, with a webhook sink and a file beside it."""

    def __init__(self, folder, uri, url, **webhook):
        sinks = {"hook": {"type": "webhook", "url": url, "retry.first.ms": 10, "retry.cap.ms": 50, **webhook},
                 "file": {"type": "file", "path": "events.jsonl"}}
        connector = {"source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": "t",
                     "snapshot.mode": "no_data", "offset.flush.interval.ms": 50, "shutdown.timeout.ms": 500,
                     "sinks": sinks}
        config = os.path.join(folder, "config.json")
        with open(config, "w") as f:
            json.dump({"state": {"path": "state.db"}, "connectors": {"a": connector}}, f)
        self.log_path = os.path.join(folder, "log")
        with open(self.log_path, "a") as log:
            self.process = subprocess.Popen([options.mongocdc, "run", config], stdout=log, stderr=log)
        self.begin = os.path.getsize(self.log_path)

    def log(self):
        with open(self.log_path) as f:
            return f.read()

    def wait_log(self, text):
        wait_for(lambda: text in self.log()[self.begin:], f"log line {text!r}")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def lines(folder):
    try:
        with open(os.path.join(folder, "events.jsonl"), "rb") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def collection(standin):
    return pymongo.MongoClient(standin.uri).db.c


# --- The cases ----------------------------------------------------------------------------------

def bodies_are_the_files_values_and_signed(folder):
    with Standin() as standin, Receiver() as receiver:
        with Service(folder, standin.uri, receiver.url, secret=SECRET) as s:
            s.wait_log("reads changes")
            c = collection(standin)
            c.insert_one({"_id": "ü 1", "text": "a\n\"b\""})
            c.update_one({"_id": "ü 1"}, {"$set": {"text": "c"}})
            c.delete_one({"_id": "ü 1"})
            wait_for(lambda: len(receiver.requests) == 4 and len(lines(folder)) == 4, "four records at both")
            assert s.stop() == 0, s.log()
        for (headers, body), line, op in zip(receiver.requests, lines(folder), "cudd"):
            record = json.loads(line)
            assert b',"value":' + body + b',"headers":[]}' in line, (body, line)
            assert headers["x-mongocdc-topic"] == record["topic"] == "t.db.c"
            assert headers["x-mongocdc-op"] == op, headers
            key = urllib.parse.unquote(headers["x-mongocdc-key"], errors="strict")
            assert json.loads(key) == record["key"] and b'"key":' + key.encode() in line, (key, line)
            assert headers["content-type"] == "application/json"
            text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            mac = hmac.new(base64.b64decode(SECRET[6:]), text, hashlib.sha256).digest()
            assert headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode(), headers
            assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
        assert len(set(receiver.ids())) == 4
        assert receiver.requests[3][1] == b"null"


def a_kill_repeats_under_the_same_id(folder):
    with Standin() as standin, Receiver() as receiver:
        with Service(folder, standin.uri, receiver.url) as s:
            s.wait_log("reads changes")
            c = collection(standin)
            c.insert_one({"_id": 1})
            wait_for(lambda: len(receiver.requests) == 1, "the first record")
            receiver.go.clear()
            c.insert_one({"_id": 2})
            c.insert_one({"_id": 3})
            wait_for(lambda: len(receiver.requests) == 2, "the second record")
            s.stop(signal.SIGKILL)  # delivered, not acknowledged
        receiver.go.set()
        unacknowledged = receiver.ids()[1]
        with Service(folder, standin.uri, receiver.url) as s:
            wait_for(lambda: len(set(receiver.ids())) == 3, "the third record")
            assert s.stop() == 0, s.log()
        ids = receiver.ids()
        assert ids.count(unacknowledged) == 2, ids
        first = [json.loads(body)["payload"]["after"] for _, body in receiver.requests]
        by_id = {}
        for request_id, after in zip(ids, first):
            assert by_id.setdefault(request_id, after) == after, "one id for two events"
        order = list(dict.fromkeys(ids))
        assert [json.loads(by_id[i])["_id"] for i in order] == [1, 2, 3], by_id


def stored_position(folder, sink):
    """(seconds, number) of the position that is stored for a sink."""
    with sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True, timeout=5) as db:
        row = db.execute("select position from positions where sink = ?", (sink,)).fetchone()
    position = json.loads(row[0])
    return position["sec"], position["ord"]


def fault_58_a_batch_that_was_taken_in_part_goes_on_behind_that_part(folder):
    with Standin() as standin, Receiver() as receiver:
        receiver.hold_after = 400
        with Service(folder, standin.uri, receiver.url) as s:
            s.wait_log("reads changes")
            collection(standin).insert_many([{"_id": i} for i in range(1, 1001)])
            wait_for(lambda: len(receiver.requests) == 401, "a request that is held")
            time_of = [(json.loads(body)["payload"]["source"]["ts_ms"] // 1000,
                        json.loads(body)["payload"]["source"]["ord"]) for _, body in receiver.requests]
            wait_for(lambda: stored_position(folder, "hook") == time_of[399], "the position of number 400")
            s.stop(signal.SIGKILL)
        assert stored_position(folder, "hook") == time_of[399] < time_of[400]
        receiver.hold_after = None
        receiver.go.set()
        with Service(folder, standin.uri, receiver.url) as s:
            wait_for(lambda: len(receiver.requests) == 1001, "the rest")
            assert s.stop() == 0, s.log()
        numbers = [json.loads(json.loads(body)["payload"]["after"])["_id"] for _, body in receiver.requests]
        assert numbers == list(range(1, 402)) + list(range(401, 1001)), numbers


def a_receiver_that_comes_later_is_waited_for(folder):
    with Receiver() as once:
        port, url = once.port, once.url
    with Standin() as standin, Service(folder, standin.uri, url) as s:
        s.wait_log("reads changes")
        collection(standin).insert_one({"_id": 1})
        s.wait_log("attempt 4 failed")
        assert "Connection refused" in s.log(), s.log()
        with Receiver(port) as receiver:
            wait_for(lambda: len(receiver.requests) == 1, "the record")
            s.wait_log("takes records again")
            assert s.stop() == 0, s.log()
        assert "hunter22" not in s.log(), s.log()


def a_stop_while_the_receiver_is_away_loses_nothing(folder):
    with Receiver() as once:
        port, url = once.port, once.url
    with Standin() as standin:
        with Service(folder, standin.uri, url) as s:
            s.wait_log("reads changes")
            collection(standin).insert_one({"_id": 1})
            s.wait_log("attempt 1 failed")
            begin = time.monotonic()
            assert s.stop() == 0, s.log()
            assert time.monotonic() - begin < 5
        with Receiver(port) as receiver, Service(folder, standin.uri, url) as s:
            wait_for(lambda: len(receiver.requests) == 1, "the record")
            assert s.stop() == 0, s.log()


def a_refusal_fails_the_connector_and_says_why(folder):
    with Standin() as standin, Receiver() as receiver:
        receiver.status = 404
        with Service(folder, standin.uri, receiver.url) as s:
            s.wait_log("reads changes")
            collection(standin).insert_one({"_id": 1, "private": "s3cr3t"})
            assert s.process.wait(20) == 3, s.log()
        log = s.log()
        assert f"webhook hook (127.0.0.1:{receiver.port}/hook) answered 404 Not Found" in log, log
        assert "hunter22" not in log and "s3cr3t" not in log, log
        assert len(receiver.requests) == 1
        receiver.status = 204
        with Service(folder, standin.uri, receiver.url) as s:
            wait_for(lambda: len(receiver.requests) == 2, "the record again")
            assert s.stop() == 0, s.log()
        assert len(set(receiver.ids())) == 1


def a_wrong_secret_is_refused_and_not_shown(folder):
    for wrong in ("whsec_" + base64.b64encode(b"0123456789").decode(), "whsec_not*base64", "0123456789abcdefghijklmn"):
        with Service(folder, "mongodb://127.0.0.1:1/", "http://127.0.0.1:1/hook", secret=wrong) as s:
            assert s.process.wait(20) == 2, s.log()
            assert "sinks.hook.secret" in s.log() and wrong not in s.log(), s.log()


CASES = [bodies_are_the_files_values_and_signed, a_kill_repeats_under_the_same_id,
         fault_58_a_batch_that_was_taken_in_part_goes_on_behind_that_part,
         a_receiver_that_comes_later_is_waited_for, a_stop_while_the_receiver_is_away_loses_nothing,
         a_refusal_fails_the_connector_and_says_why, a_wrong_secret_is_refused_and_not_shown]
run_cases(CASES)
