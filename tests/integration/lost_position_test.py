# SPDX-License-Identifier: Apache-2.0
"""The service as a process whose position leaves the oplog, or that begins at a chosen place; with kills in between.

    lost_position_test.py --mongocdc BIN --standin BIN

Prints a line a case and ends with "N passed, N failed"; exit code 1 when one failed.
"""
import json
import os
import signal
import sqlite3
import subprocess

import pymongo

from processes import Standin, options, run_cases, wait_for
from receiver import Receiver

READER = "cdc:secret-word:readAnyDatabase@admin"  # may not read local.oplog.rs
ROOT = "root:root-word"


class Service:
    """One run of mongocdc in a folder: one connector "a" into events.jsonl or to a webhook."""

    def __init__(self, folder, uri, url=None, **more):
        sink = {"type": "webhook", "url": url, "retry.first.ms": 10} if url else \
            {"type": "file", "path": "events.jsonl"}
        connector = {"source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": "t",
                     "snapshot.mode": "no_data", "schemas.enable": False, "database.include.list": "shop",
                     "offset.flush.interval.ms": 20, "cursor.max.await.time.ms": 50, "shutdown.timeout.ms": 500,
                     "sinks": {"out": sink}, **more}
        config = os.path.join(folder, "config.json")
        with open(config, "w") as f:
            json.dump({"state": {"path": "state.db"}, "connectors": {"a": connector}}, f)
        self.log_path = os.path.join(folder, "log")
        self.begin = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        with open(self.log_path, "a") as log:
            self.process = subprocess.Popen([options.mongocdc, "run", config], stdout=log, stderr=log)

    def log(self):
        with open(self.log_path) as f:
            f.seek(self.begin)
            return f.read()

    def wait_log(self, *texts):
        wait_for(lambda: all(t in self.log() for t in texts) or self.process.poll() is not None, f"log {texts}")
        for text in texts:
            assert text in self.log(), f"no {text!r} in:\n{self.log()}"

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def position_of(folder):
    """The stored position, or None."""
    try:
        with sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True, timeout=5) as db:
            row = db.execute("select position from positions").fetchone()
            return row and json.loads(row[0])
    except sqlite3.OperationalError:
        return None


def records(folder):
    try:
        with open(os.path.join(folder, "events.jsonl")) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def ids(folder):
    return [int(r["key"]["id"]) for r in records(folder)]


def id_of(request):
    """The _id of the document that a webhook request carries."""
    return json.loads(json.loads(request[1])["after"])["_id"]


def of_event(position):
    """Whether it is the token of an event and not only of a time."""
    return position["data"][18:].startswith("2B022C0100")


def roll_over(root):
    """Everything up to now leaves the oplog, by writes that the connector does not want."""
    for i in range(4):
        root.elsewhere.c.insert_one({})
    root.admin.command("standInTrimOplog", 2)


def deliver_one(folder, uri, root, id_=1, **more):
    """Runs until one event is delivered and its own token is what is stored."""
    with Service(folder, uri, **more) as s:
        wait_for(lambda: position_of(folder), "the first position")
        root.shop.orders.insert_one({"_id": id_})
        wait_for(lambda: ids(folder)[-1:] == [id_], "the event")
        wait_for(lambda: of_event(position_of(folder)), "its position")
        assert s.stop() == 0
    return position_of(folder)


def start_time_of(root, id_):
    """capture.start.op.time of the insert."""
    ts = root.local["oplog.rs"].find_one({"op": "i", "ns": "shop.orders", "o._id": id_})["ts"]
    return ts.time << 32 | ts.inc


def served(root):
    """Stream commands that clients have sent."""
    commands = root.admin.command("standInMembers", 1)["members"][0]["served"]
    return sum(commands.get(name, {}).get("asPrimary", 0) for name in ("aggregate", "getMore"))


def hold_from(root, skip):
    """From the stream command behind so many on, no stream command is answered."""
    root.admin.command("configureFailPoint", "failCommand", mode={"skip": skip} if skip else "alwaysOn",
                       data={"failCommands": ["aggregate", "getMore"], "standInHold": True})


def hold_none(root):
    root.admin.command("configureFailPoint", "failCommand", mode="off")


# --- The cases ----------------------------------------------------------------------------------

def fault_44_173_a_position_that_left_the_oplog_is_a_failed_state(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        before = deliver_one(folder, standin.uri, root)
        roll_over(root)
        entries = list(root.local["oplog.rs"].find())
        for _ in range(2):  # and again after a restart
            with Service(folder, standin.uri) as s:
                assert s.process.wait(20) == 3
                s.wait_log("error", "the position of ",
                           f"(timestamp {before['sec']}, {before['ord']}) is lost",
                           f"(timestamp {entries[0]['ts'].time}, {entries[0]['ts'].inc}), newest ",
                           f"(timestamp {entries[-1]['ts'].time}, {entries[-1]['ts'].inc})")
        assert position_of(folder) == before
        assert ids(folder) == [1]


def kills_in_the_silent_gap(folder, uri, root):
    """At every command of the stream in turn: SIGKILL while it is not answered. Nothing may have been stored."""
    before = deliver_one(folder, uri, root)
    roll_over(root)
    ends = []
    for skip in range(8):
        hold_from(root, skip)
        begin = served(root)
        with Service(folder, uri) as s:
            wait_for(lambda: served(root) > begin + skip or s.process.poll() is not None, f"command {skip}")
            ends.append(s.process.poll())
            if s.process.poll() is None:
                s.stop(signal.SIGKILL)
            else:
                s.wait_log("is lost")
        hold_none(root)
        assert position_of(folder) == before, f"stored behind the gap, killed at command {skip}"
        root.elsewhere.c.insert_one({})  # time goes on, and with it what an empty batch tells
    assert ends[-1] == 3, ends
    with Service(folder, uri) as s:
        assert s.process.wait(20) == 3
        s.wait_log("is lost")
    root.shop.orders.insert_one({"_id": 2})
    with Service(folder, uri) as s:
        assert s.process.wait(20) == 3
        s.wait_log("is lost")
    assert position_of(folder) == before and ids(folder) == [1]
    return ends


def fault_44_59_the_silent_gap_with_kills_in_between(folder):
    with Standin("--user", READER, "--user", ROOT) as standin:
        root = pymongo.MongoClient(standin.uri_of("root", "root-word"))
        ends = kills_in_the_silent_gap(folder, standin.uri_of("cdc", "secret-word"), root)
        # Opened, read once, a second stream opened, read once: only the server's last answer tells.
        assert ends[:4] == [None] * 4 and ends[4] == 3, ends


def fault_44_the_silent_gap_where_the_oplog_may_be_read(folder):
    with Standin() as standin:
        ends = kills_in_the_silent_gap(folder, standin.uri, pymongo.MongoClient(standin.uri))
        assert ends[0] == 3, ends  # before the stream is opened at all


def fault_59_from_now_tells_the_gap_and_a_kill_does_not_lose_it(folder):
    with Standin() as standin, Receiver() as receiver:
        root = pymongo.MongoClient(standin.uri)
        with Service(folder, standin.uri, receiver.url) as s:
            wait_for(lambda: position_of(folder), "the first position")
            root.shop.orders.insert_one({"_id": 1})
            wait_for(lambda: of_event(position_of(folder)), "the event's position")
            s.stop()
        before = position_of(folder)
        roll_over(root)
        told = 0
        for kill in range(3):
            receiver.go.clear()
            receiver.requests.clear()
            with Service(folder, standin.uri, receiver.url, **{"on.lost.position": "from_now"}) as s:
                wait_for(lambda: receiver.requests, "the record of the gap")
                root.shop.orders.insert_one({"_id": 10 + kill})
                s.wait_log("gap: the changes of ", f"(timestamp {before['sec']}, {before['ord']})")
                assert position_of(folder) == before  # it is not acknowledged yet
                s.stop(signal.SIGKILL)
            told += 1
            headers, body = receiver.requests[0]
            record = json.loads(body)
            assert headers["x-mongocdc-topic"] == "t.gap" and record["type"] == "gap", record
            assert record["from_token"] == before["data"] and record["to_token"] > before["data"], record
            assert record["oldest_time"] and record["newest_time"], record
            assert len(receiver.requests) == 1, receiver.requests  # nothing before it is acknowledged
            receiver.go.set()
        receiver.requests.clear()
        with Service(folder, standin.uri, receiver.url, **{"on.lost.position": "from_now"}) as s:
            wait_for(lambda: receiver.requests, "the record of the gap")
            wait_for(lambda: position_of(folder) != before, "the position behind it")
            root.shop.orders.insert_one({"_id": 2})
            wait_for(lambda: len(receiver.requests) == 2, "the event behind it")
            gap = json.loads(receiver.requests[0][1])
            assert gap["type"] == "gap" and id_of(receiver.requests[1]) == 2
            s.stop()
        receiver.requests.clear()
        root.shop.orders.insert_one({"_id": 3})
        with Service(folder, standin.uri, receiver.url, **{"on.lost.position": "from_now"}) as s:
            wait_for(lambda: receiver.requests, "the next event")
            assert id_of(receiver.requests[0]) == 3
            assert "gap" not in s.log()


def a_position_whose_event_the_new_filter_drops_still_resumes(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        deliver_one(folder, standin.uri, root)
        root.shop.items.insert_one({"_id": 2})
        with Service(folder, standin.uri, **{"collection.include.list": "shop.items"}):
            wait_for(lambda: ids(folder) == [1, 2], "the event of the other collection")


def fault_60_starts_at_a_time_a_token_and_the_oldest_entry(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        token = deliver_one(folder, standin.uri, root, 1)
        for i in (2, 3):
            root.shop.orders.insert_one({"_id": i})
        for name, start, expected in (
                ("time", {"capture.start.op.time": start_time_of(root, 2)}, [2, 3]),
                ("token", {"capture.start.token": token["data"]}, [2, 3]),
                ("json", {"capture.start.token": json.dumps({"_data": token["data"]})}, [2, 3]),
                ("oldest", {"capture.start.from": "oldest"}, [1, 2, 3])):
            own = os.path.join(folder, name)
            os.mkdir(own)
            with Service(own, standin.uri, **start) as s:
                wait_for(lambda: len(ids(own)) >= len(expected), f"the events from {name} on")
                assert ids(own) == expected, (name, ids(own))
                s.stop()
            with Service(own, standin.uri, **start) as s:
                s.wait_log("a position is stored, so capture.start.", "goes on behind")
                assert ids(own) == expected, (name, ids(own))


def fault_60_a_kill_before_the_first_record_is_acknowledged_changes_no_start(folder):
    with Standin() as standin, Receiver() as receiver:
        root = pymongo.MongoClient(standin.uri)
        for i in (1, 2, 3):
            root.shop.orders.insert_one({"_id": i})
        receiver.go.clear()
        for start in ({"capture.start.op.time": start_time_of(root, 2)}, {"capture.start.from": "oldest"}, {}):
            receiver.requests.clear()
            with Service(folder, standin.uri, receiver.url, **start) as s:
                wait_for(lambda: receiver.requests, "the first record")
                assert id_of(receiver.requests[0]) == 2, start
                assert position_of(folder) and not of_event(position_of(folder))
                s.stop(signal.SIGKILL)


def fault_60_a_bad_start_is_refused(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        token = deliver_one(folder, standin.uri, root, 1)
        old = start_time_of(root, 1)
        for start, named in (({"capture.start.token": "nonsense"}, "capture.start.token"),
                             ({"capture.start.op.time": 0}, "capture.start.op.time"),
                             ({"capture.start.op.time": -2}, "capture.start.op.time"),
                             ({"capture.start.op.time": 1764486000000}, "capture.start.op.time"),  # milliseconds
                             ({"capture.start.from": "yesterday"}, "capture.start.from"),
                             ({"capture.start.op.time": old, "capture.start.token": token["data"]},
                              "capture.start.token"),
                             ({"capture.start.op.time": old, "capture.start.from": "oldest"}, "capture.start.from")):
            with Service(folder, standin.uri, **start) as s:
                assert s.process.wait(20) == 2, start
                assert named in s.log(), s.log()
        roll_over(root)
        oldest = root.local["oplog.rs"].find_one()["ts"]
        # Data of an event from before, and of none that can be.
        ahead = (oldest.time + 100000) << 32 | 1
        for start, says in (({"capture.start.op.time": old}, f"(timestamp {oldest.time}, {oldest.inc})"),
                            ({"capture.start.token": token["data"]}, f"(timestamp {oldest.time}, {oldest.inc})"),
                            ({"capture.start.op.time": ahead}, "lies ahead")):
            own = os.path.join(folder, "own")
            os.makedirs(own, exist_ok=True)
            with Service(own, standin.uri, **start) as s:
                assert s.process.wait(20) == 3, start
                s.wait_log(says, *start)
            assert position_of(own) is None, "a start that is none must not be stored"
        with Service(own, standin.uri, **{"capture.start.from": "oldest"}) as s:  # a better one is taken
            s.wait_log("starts at the configured place")


def with_foreign_writes_only_the_position_follows_and_a_restart_resumes(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        with Service(folder, standin.uri) as s:
            wait_for(lambda: position_of(folder), "the first position")
            begin = position_of(folder)
            for i in range(3):
                root.elsewhere.c.insert_one({"_id": i})
                ts = list(root.local["oplog.rs"].find().sort("$natural", -1).limit(1))[0]["ts"]
                wait_for(lambda: (position_of(folder)["sec"], position_of(folder)["ord"]) >= (ts.time, ts.inc),
                         "the position behind a foreign write")
            s.stop()
        root.admin.command("standInTrimOplog", 1)  # where it began is gone
        oldest = root.local["oplog.rs"].find_one()["ts"]
        assert (begin["sec"], begin["ord"]) < (oldest.time, oldest.inc)
        root.shop.orders.insert_one({"_id": 1})
        with Service(folder, standin.uri):
            wait_for(lambda: ids(folder) == [1], "the event")


def fault_64_a_long_foreign_stretch_with_kills_in_between(folder):
    with Standin("--scan-limit", "300") as standin:
        root = pymongo.MongoClient(standin.uri)
        stored = deliver_one(folder, standin.uri, root)
        for _ in range(6):
            root.elsewhere.c.insert_many([{} for _ in range(1000)])
        root.shop.orders.insert_one({"_id": 2})
        tries = 0
        while ids(folder) == [1]:
            tries += 1
            assert tries < 30, "no progress"
            with Service(folder, standin.uri) as s:
                # Each run gets further than the one before, and is killed as soon as that is stored.
                wait_for(lambda: position_of(folder)["data"] > stored["data"], "a later position")
                s.stop(signal.SIGKILL)
            stored = position_of(folder)
        assert tries > 2 and ids(folder)[:2] == [1, 2]


def a_low_headroom_is_warned_about(folder):
    with Standin() as standin:
        root = pymongo.MongoClient(standin.uri)
        deliver_one(folder, standin.uri, root)
        root.shop.orders.insert_one({"_id": 2})
        # Only what came before the position leaves; it can still be resumed at.
        root.admin.command("standInTrimOplog", 2)
        with Service(folder, standin.uri) as s:
            s.wait_log("the stored position ", "is only 0 s from the oplog's oldest entry")
            wait_for(lambda: ids(folder) == [1, 2], "the event")


run_cases([fault_44_173_a_position_that_left_the_oplog_is_a_failed_state,
           fault_44_59_the_silent_gap_with_kills_in_between,
           fault_44_the_silent_gap_where_the_oplog_may_be_read,
           fault_59_from_now_tells_the_gap_and_a_kill_does_not_lose_it,
           a_position_whose_event_the_new_filter_drops_still_resumes,
           fault_60_starts_at_a_time_a_token_and_the_oldest_entry,
           fault_60_a_kill_before_the_first_record_is_acknowledged_changes_no_start,
           fault_60_a_bad_start_is_refused,
           with_foreign_writes_only_the_position_follows_and_a_restart_resumes,
           fault_64_a_long_foreign_stretch_with_kills_in_between,
           a_low_headroom_is_warned_about])
