# SPDX-License-Identifier: Apache-2.0
"""Ends the service at random moments while changes are written, and checks that nothing is lost.

SIGKILL: every change is in the file; per key, once records seen before are dropped, the changes are exactly those
that were written, in order; repeats begin only where a new process began; the last event of every id equals the
database. SIGTERM: the same, and no record is repeated at all.

Runs against a stand-in replica set, or against MONGODB_URI with --real (exit code 77, skipped, when it is not set).
"""
import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import pymongo

SKIPPED = 77


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


class Standin:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "mongodb://" not in line:
            fail(f"the stand-in did not start: {line!r}")
        self.uri = "mongodb://" + line.split("mongodb://", 1)[1].split()[0]

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class Service:
    """mongocdc with one connector into one file."""

    def __init__(self, binary, folder, uri, database):
        self.binary, self.folder = binary, folder
        self.out = os.path.join(folder, "events.jsonl")
        self.state = os.path.join(folder, "state.db")
        self.log = os.path.join(folder, "log")
        self.config = os.path.join(folder, "config.json")
        self.process = None
        self.boundaries = set()  # bytes of whole lines in the file when a process ended
        config = {
            "state": {"path": "state.db"},
            "connectors": {
                "c": {
                    "source": "mongodb",
                    "mongodb.connection.string": uri,
                    "topic.prefix": "t",
                    "snapshot.mode": "no_data",
                    "capture.mode": "change_streams",
                    "database.include.list": database,
                    "schemas.enable": False,
                    "offset.flush.interval.ms": 50,
                    "sinks": {"out": {"type": "file", "path": "events.jsonl"}},
                }
            },
        }
        with open(self.config, "w") as f:
            json.dump(config, f)

    def start(self):
        self.log_begin = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.binary, "run", self.config], stderr=log, stdout=log)

    def end(self, number):
        if self.process.poll() is not None:
            fail(f"the service ended by itself with {self.process.returncode}; log:\n{self.tail()}")
        if number == signal.SIGTERM:
            # Before the service has taken over the signal, it just ends the process, as it does with any program.
            wait_for(self.has_begun, "the service's first log line")
        self.process.send_signal(number)
        code = self.process.wait(30)
        if number == signal.SIGTERM and code != 0:
            fail(f"exit code {code} after SIGTERM; log:\n{self.tail()}")
        self.boundaries.add(self.whole_lines())

    def has_begun(self):
        with open(self.log) as f:
            f.seek(self.log_begin)
            return "connector(s)" in f.read()

    def tail(self):
        with open(self.log) as f:
            return "".join(f.readlines()[-30:])

    def whole_lines(self):
        """Size of the file up to its last complete line."""
        try:
            with open(self.out, "rb") as f:
                return f.read().rfind(b"\n") + 1
        except FileNotFoundError:
            return 0

    def has_position(self):
        try:
            with sqlite3.connect(f"file:{self.state}?mode=ro", uri=True, timeout=5) as db:
                return db.execute("select count(*) from positions").fetchone()[0] > 0
        except sqlite3.OperationalError:
            return False


class Writer(threading.Thread):
    """Inserts, updates, replaces and deletes of few ids, so that each id has a long history."""

    def __init__(self, uri, database, seed, pause):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.db = pymongo.MongoClient(uri)[database]
        self.pause = pause
        self.ending = threading.Event()
        self.error = None
        self.version = 0
        self.history = {}  # (collection, id) -> [(op, version)]
        self.alive = {}  # (collection, id) -> document

    def run(self):
        try:
            while not self.ending.is_set():
                self.change()
                if self.pause:
                    self.ending.wait(self.pause)
        except Exception as e:  # a writer that dies must fail the test, not shorten it
            self.error = e

    def change(self):
        key = (self.random.choice(["a", "b"]), self.random.randrange(40))
        collection, id_ = self.db[key[0]], key[1]
        self.version += 1
        v = self.version
        if key not in self.alive:
            document = {"_id": id_, "v": v, "pad": "x" * self.random.randrange(300)}
            collection.insert_one(document)
            op = "c"
        else:
            action = self.random.choice(["update", "update", "replace", "delete"])
            if action == "update":
                document = dict(self.alive[key], v=v)
                collection.update_one({"_id": id_}, {"$set": {"v": v}})
                op = "u"
            elif action == "replace":
                document = {"_id": id_, "v": v, "kind": "replaced"}
                collection.replace_one({"_id": id_}, document)
                op = "u"
            else:
                document = None
                collection.delete_one({"_id": id_})
                op, v = "d", None
        self.history.setdefault(key, []).append((op, v))
        if document is None:
            del self.alive[key]
        else:
            self.alive[key] = document


def read_events(path):
    """(offset of the line, key, op, version, cluster time, value) of each line; op None is a tombstone."""
    offset, out = 0, []
    with open(path, "rb") as f:
        for line in f:
            if not line.endswith(b"\n"):
                fail("the file ends in half a line after a clean stop")
            record = json.loads(line)
            key = (record["topic"].split(".")[-1], json.loads(record["key"]["id"]))
            value = record["value"]
            if value is None:
                out.append((offset, key, None, None, None, None))
            else:
                after = json.loads(value["after"]) if value["after"] else None
                version = None
                if value["op"] != "d":
                    changed = after or json.loads(value["updateDescription"]["updatedFields"])
                    version = changed["v"]
                    version = int(version["$numberLong"]) if isinstance(version, dict) else version
                time_ = (value["source"]["ts_ms"], value["source"]["ord"])
                out.append((offset, key, value["op"], version, time_, value))
            offset += len(line)
    return out


def check(service, writer, database, repeats_allowed):
    events = read_events(service.out)
    newest, repeats, runs_of_repeats = (0, 0), 0, 0
    seen, per_key, tombstones = set(), {}, {}
    previous = None
    for offset, key, op, version, time_, value in events:
        if op is None:
            # A tombstone follows its delete directly.
            if previous is None or previous[0] != key or previous[1] != "d":
                fail(f"tombstone of {key} at byte {offset} does not follow a delete")
            tombstones.setdefault(key, set()).add(previous[2])
            previous = None
            continue
        if time_ in seen:
            repeats += 1
        if time_ < newest and previous is not None and time_ < previous[2]:
            runs_of_repeats += 1
            if offset not in service.boundaries:
                fail(f"repeats begin at byte {offset}, where no process began")
        newest = max(newest, time_)
        previous = (key, op, time_)
        if time_ in seen:
            continue
        seen.add(time_)
        per_key.setdefault(key, []).append((op, version, time_))
    if repeats and not repeats_allowed:
        fail(f"{repeats} records were repeated")

    for key, expected in writer.history.items():
        got = [(op, version) for op, version, _ in per_key.get(key, [])]
        if got != expected:
            at = next((i for i, (g, e) in enumerate(zip(got, expected)) if g != e), min(len(got), len(expected)))
            fail(f"{key}: {len(got)} changes for {len(expected)}; first difference at {at}: "
                 f"{got[at:at + 3]} for {expected[at:at + 3]}")
        deletes = {t for op, _, t in per_key[key] if op == "d"}
        if deletes != tombstones.get(key, set()):
            fail(f"{key}: deletes and tombstones differ")
    extra = set(per_key) - set(writer.history)
    if extra:
        fail(f"events of ids that nobody wrote: {sorted(extra)[:5]}")

    stored = {(c, d["_id"]): d for c in ("a", "b") for d in database[c].find()}
    for key in writer.history:
        last = per_key[key][-1]
        if (last[0] == "d") != (key not in stored):
            fail(f"{key}: last event {last[0]}, but in the database: {key in stored}")
        if key in stored and stored[key]["v"] != last[1]:
            fail(f"{key}: last event has version {last[1]}, the database {stored[key]['v']}")
    return len(seen), repeats, runs_of_repeats


def wait_for(condition, what, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            fail(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--mongocdc", required=True)
    options.add_argument("--standin")
    options.add_argument("--real", action="store_true", help="use MONGODB_URI")
    options.add_argument("--signal", choices=["KILL", "TERM"], default="KILL")
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--pause", type=float, default=0.0005, help="seconds between two changes")
    o = options.parse_args()
    number = signal.SIGKILL if o.signal == "KILL" else signal.SIGTERM
    print(f"seed {o.seed}")  # to repeat a run
    rng = random.Random(o.seed)

    standin = None
    if o.real:
        uri = os.environ.get("MONGODB_URI")
        if not uri:
            print("skipped: MONGODB_URI is not set")
            sys.exit(SKIPPED)
    else:
        standin = Standin(o.standin)
        uri = standin.uri
    name = f"mongocdc_kill_{os.getpid()}"
    database = pymongo.MongoClient(uri)[name]
    service = None
    try:
        with tempfile.TemporaryDirectory(prefix="mongocdc-kill-") as folder:
            service = Service(o.mongocdc, folder, uri, name)
            service.start()
            wait_for(service.has_position, "the first stored position")
            writer = Writer(uri, name, o.seed, o.pause)
            writer.start()
            for _ in range(o.times):
                time.sleep(rng.uniform(0.02, 0.5))
                service.end(number)
                service.start()
            time.sleep(0.3)
            writer.ending.set()
            writer.join()
            if writer.error:
                fail(f"the writer: {writer.error!r}")
            # The last change has arrived when the file no longer misses any.
            total = sum(len(h) for h in writer.history.values())
            database["a"].insert_one({"_id": 1_000_000, "v": writer.version + 1})
            writer.history[("a", 1_000_000)] = [("c", writer.version + 1)]
            wait_for(lambda: b'"id":"1000000"' in open(service.out, "rb").read()[-4096:], "the last change")
            service.end(signal.SIGTERM)
            changes, repeats, runs = check(service, writer, database, number == signal.SIGKILL)
            if changes != total + 1:
                fail(f"{changes} changes for {total + 1}")
            print(f"{changes} changes, {o.times} times SIG{o.signal}: nothing missing; "
                  f"{repeats} records repeated in {runs} places, each where a process began")
    finally:
        if service and service.process and service.process.poll() is None:
            service.process.kill()
            service.process.wait()
        if o.real:
            database.client.drop_database(name)
        if standin:
            standin.stop()


main()
