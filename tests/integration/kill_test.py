# SPDX-License-Identifier: Apache-2.0
"""Ends the service at random moments while changes are written, and checks that nothing is lost.

    kill_test.py --mongocdc BIN --standin BIN [--signal KILL|TERM] [--times N]    one file sink
    kill_test.py --mongocdc BIN --standin BIN --kills N    kill -9; beside the file a webhook whose receiver fails at random

SIGKILL: every change is in the file; per key, once records seen before are dropped, the changes are exactly those
that were written, in order; repeats begin only where a new process began, behind the position that was stored then;
every change that a stored position covers is in the file by then; stored positions never go back; the last event of every id equals the database. SIGTERM: the same, and no record is
repeated at all. The webhook's receiver has taken the same changes in the same order per key; a record has the same id
in every attempt of every process, an attempt that failed is repeated before anything else is sent, and what was
accepted is sent again by later processes only, behind the position that was stored for the webhook.

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
import time

import pymongo

import failing_receiver
import key_history

SKIPPED = 77
LAST_ID = 1_000_000


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
    """mongocdc with one connector into one file, and to a receiver when there is one."""

    def __init__(self, binary, folder, uri, database, receiver):
        self.binary, self.folder, self.uri, self.database, self.receiver = binary, folder, uri, database, receiver
        self.out = os.path.join(folder, "events.jsonl")
        self.state = os.path.join(folder, "state.db")
        self.log = os.path.join(folder, "log")
        self.config = os.path.join(folder, "config.json")
        self.process = None
        self.run = 0
        self.began = {}  # bytes of whole lines in the file when a process began -> position stored for the file then
        self.hook_began = {}  # run -> position stored for the webhook when it began
        self.stored = {}  # sink -> the newest stored position

    def write_config(self):
        sinks = {"out": {"type": "file", "path": "events.jsonl"}}
        if self.receiver:
            sinks["hook"] = {"type": "webhook", "url": self.receiver.url(self.run), "retry.first.ms": 10,
                             "retry.cap.ms": 100}
        connector = {
            "source": "mongodb",
            "mongodb.connection.string": self.uri,
            "topic.prefix": "t",
            "snapshot.mode": "no_data",
            "capture.mode": "change_streams",
            "database.include.list": self.database,
            "schemas.enable": False,
            "offset.flush.interval.ms": 50,
            "sinks": sinks,
        }
        with open(self.config, "w") as f:
            json.dump({"state": {"path": "state.db"}, "connectors": {"c": connector}}, f)

    def start(self):
        self.run += 1
        self.write_config()
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
        code = self.process.wait(60)
        if number == signal.SIGTERM and code != 0:
            fail(f"exit code {code} after SIGTERM; log:\n{self.tail()}")
        positions = self.positions()
        for sink, position in self.stored.items():
            if positions.get(sink, (0, 0)) < position:
                fail(f"the stored position of {sink} went back from {position} to {positions.get(sink)}")
        self.stored = positions
        self.began[self.whole_lines()] = positions.get("out")
        self.hook_began[self.run + 1] = positions.get("hook")

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

    def newest(self):
        """Time of the last change in the file, as records have it."""
        try:
            with open(self.out, "rb") as f:
                f.seek(max(0, os.path.getsize(self.out) - 16 * 1024))
                lines = f.read().split(b"\n")[1:-1]
        except FileNotFoundError:
            return (0, 0)
        values = (json.loads(line)["value"] for line in reversed(lines))
        source = next((v["source"] for v in values if v), {"ts_ms": 0, "ord": 0})
        return (source["ts_ms"], source["ord"])

    def positions(self):
        """sink -> stored position as (milliseconds, number), as records have it."""
        try:
            with sqlite3.connect(f"file:{self.state}?mode=ro", uri=True, timeout=5) as db:
                rows = db.execute("select sink, position from positions").fetchall()
        except sqlite3.OperationalError:
            return {}
        parsed = {sink: json.loads(position) for sink, position in rows}
        return {sink: (p["sec"] * 1000, p["ord"]) for sink, p in parsed.items()}


class Recovery:
    """How long after a kill the first record that was not there before arrives."""

    def __init__(self, progress):
        self.progress = progress  # gives what grows with each new record, and not with a repeated one
        self.longest, self.not_before_next = 0.0, 0
        self.since, self.newest = None, progress()

    def killed(self):
        if self.since is not None:
            self.not_before_next += 1
        self.since = time.monotonic()
        self.newest = max(self.newest, self.progress())

    def look(self):
        if self.since is not None and self.progress() > self.newest:
            self.longest = max(self.longest, time.monotonic() - self.since)
            self.since = None


def wait_for(condition, what, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            fail(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def fault_58_150_what_a_stored_position_covers_has_arrived(where, arrived, stored_at, every):
    """`arrived`: (moment, time of a change) in the order of arrival; `stored_at`: moment of a kill -> position stored by
    then; `every`: times of all changes."""
    first = {}
    for moment, time_ in arrived:
        first.setdefault(time_, moment)
    for moment, position in stored_at.items():
        missing = [t for t in every if position and t <= position and first[t] >= moment]
        if missing:
            fail(f"{where}: {position} was stored at {moment}, before {missing[0]} had arrived")


def check_webhook(service, receiver, history):
    taken = failing_receiver.records_of(receiver.requests, fail)
    per_key, tombstones, last_delete = {}, {}, {}
    for r in taken:
        key, op, version, time_ = key_history.parse(r.topic, json.loads(r.key), r.body)
        if op is None:
            tombstones.setdefault(key, set()).add(last_delete[key])
            continue
        if op == "d":
            last_delete[key] = time_
        per_key.setdefault(key, []).append((op, version, time_))
    key_history.check_history("webhook", per_key, tombstones, history, fail)
    first_of_run = {}
    for r in receiver.requests:
        if r.body is not None:
            first_of_run.setdefault(r.run, key_history.parse(r.topic, json.loads(r.key), r.body)[3])
    for run, time_ in first_of_run.items():
        stored = service.hook_began.get(run)
        if stored and time_ <= stored:
            fail(f"webhook: run {run} began with {time_} although {stored} had been stored")
    arrived = [(r.run, (r.body["source"]["ts_ms"], r.body["source"]["ord"])) for r in taken if r.body]
    fault_58_150_what_a_stored_position_covers_has_arrived(
        "webhook", arrived, service.hook_began, {time_ for _, time_ in arrived})
    accepted = sum(r.accepted for r in receiver.requests)
    return (f"webhook: {len(receiver.requests)} requests, {len(receiver.requests) - accepted} of them failed, "
            f"{len(taken)} records, {accepted - len(taken)} accepted again")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--mongocdc", required=True)
    options.add_argument("--standin")
    options.add_argument("--real", action="store_true", help="use MONGODB_URI")
    options.add_argument("--signal", choices=["KILL", "TERM"], default="KILL")
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--kills", type=int, help="so many times KILL, with a webhook whose receiver fails at random")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--pause", type=float, help="seconds between two changes")
    o = options.parse_args()
    if o.kills:
        o.signal, o.times = "KILL", o.kills
    if o.pause is None:
        o.pause = 0.004 if o.kills else 0.0005
    number = signal.SIGKILL if o.signal == "KILL" else signal.SIGTERM
    print(f"seed {o.seed}", flush=True)  # to repeat a run
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
    receiver = failing_receiver.FailingReceiver(o.seed) if o.kills else None
    service = None
    try:
        with tempfile.TemporaryDirectory(prefix="mongocdc-kill-") as folder:
            service = Service(o.mongocdc, folder, uri, name, receiver)
            service.start()
            sinks = 2 if receiver else 1
            wait_for(lambda: len(service.positions()) == sinks, "the first stored positions")
            writer = key_history.Writer(uri, name, o.seed, o.pause)
            writer.start()
            begin = time.monotonic()
            recoveries = {"file": Recovery(service.newest)}
            if receiver:
                recoveries["webhook"] = Recovery(receiver.accepted)
            for _ in range(o.times):
                until = time.monotonic() + rng.uniform(0.02, 0.8 if receiver else 0.5)
                while time.monotonic() < until:
                    time.sleep(min(0.01, max(0, until - time.monotonic())))
                    for r in recoveries.values():
                        r.look()
                service.end(number)
                for r in recoveries.values():
                    r.killed()
                service.start()
            took = time.monotonic() - begin
            writer.ending.set()
            writer.join()
            if writer.error:
                fail(f"the writer: {writer.error!r}")
            if receiver:
                receiver.calm = True
            # The last change has arrived when nothing is missing any more.
            writer.write_last(LAST_ID)
            last = f'"id":"{LAST_ID}"'
            wait_for(lambda: last.encode() in open(service.out, "rb").read()[-4096:], "the last change in the file", 120)
            if receiver:
                wait_for(lambda: receiver.requests[-1].key == "{" + last + "}", "the last change at the receiver", 300)
            service.end(signal.SIGTERM)

            events = key_history.read_file(service.out, fail)
            per_key, tombstones, repeats, places = key_history.check_file(
                events, service.began, number == signal.SIGKILL, fail)
            key_history.check_history("file", per_key, tombstones, writer.history, fail)
            key_history.check_end(per_key, database, fail)
            arrived = [(offset, time_) for offset, _, op, _, time_ in events if op]
            fault_58_150_what_a_stored_position_covers_has_arrived(
                "file", arrived, service.began, {time_ for _, time_ in arrived})
            print(f"{writer.count()} changes, {o.times} times SIG{o.signal} in {took:.0f} s: nothing missing, per key "
                  f"nothing out of order; file: {repeats} records repeated in {places} places, each where a process "
                  f"began")
            if receiver:
                print(check_webhook(service, receiver, writer.history))
            for where, r in recoveries.items():
                print(f"{where}: longest time from a kill to the next new record {r.longest:.2f} s; "
                      f"{r.not_before_next} times the next kill came first")
    finally:
        if service and service.process and service.process.poll() is None:
            service.process.kill()
            service.process.wait()
        if receiver:
            receiver.close()
        if o.real:
            database.client.drop_database(name)
        if standin:
            standin.stop()


main()
