# SPDX-License-Identifier: Apache-2.0
"""A writer of few ids with long histories, and whether what arrived is exactly what it wrote."""
import json
import random
import threading

import pymongo


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

    def count(self):
        return sum(len(h) for h in self.history.values())

    def write_last(self, id_):
        """One more insert, by which the end is recognised."""
        self.version += 1
        self.db["a"].insert_one({"_id": id_, "v": self.version})
        self.history[("a", id_)] = [("c", self.version)]


def parse(topic, key, value):
    """(key, op, version, cluster time) of a record without schemas; op None is a tombstone."""
    key = (topic.split(".")[-1], json.loads(key["id"]))
    if value is None:
        return key, None, None, None
    version = None
    if value["op"] != "d":
        after = json.loads(value["after"]) if value["after"] else None
        changed = after or json.loads(value["updateDescription"]["updatedFields"])
        version = changed["v"]
        version = int(version["$numberLong"]) if isinstance(version, dict) else version
    return key, value["op"], version, (value["source"]["ts_ms"], value["source"]["ord"])


def read_file(path, fail):
    """(offset of the line, key, op, version, cluster time) of each line of a file sink."""
    offset, out = 0, []
    with open(path, "rb") as f:
        for line in f:
            if not line.endswith(b"\n"):
                fail("the file ends in half a line after a clean stop")
            record = json.loads(line)
            out.append((offset, *parse(record["topic"], record["key"], record["value"])))
            offset += len(line)
    return out


def check_file(events, began, repeats_allowed, fail):
    """`events` as read_file gives them. `began`: offset in the file where a new process began -> position stored then.
    Gives the changes by key, each once, in the order of their first arrival; and figures."""
    newest, repeats, places = (0, 0), 0, 0
    seen, per_key, tombstones = set(), {}, {}
    previous = None
    for offset, key, op, version, time_ in events:
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
            places += 1
            if offset not in began:
                fail(f"repeats begin at byte {offset}, where no process began")
        if began.get(offset) and time_ <= began[offset]:
            fail(f"byte {offset}: {time_} is repeated although {began[offset]} had been stored")
        newest = max(newest, time_)
        previous = (key, op, time_)
        if time_ in seen:
            continue
        seen.add(time_)
        per_key.setdefault(key, []).append((op, version, time_))
    if repeats and not repeats_allowed:
        fail(f"{repeats} records were repeated")
    return per_key, tombstones, repeats, places


def check_history(where, per_key, tombstones, history, fail):
    """Every change that was written is there, per key in the order in which it was written, and nothing else."""
    for key, expected in history.items():
        got = [(op, version) for op, version, _ in per_key.get(key, [])]
        if got != expected:
            at = next((i for i, (g, e) in enumerate(zip(got, expected)) if g != e), min(len(got), len(expected)))
            fail(f"{where}: {key}: {len(got)} changes for {len(expected)}; first difference at {at}: "
                 f"{got[at:at + 3]} for {expected[at:at + 3]}")
        deletes = {t for op, _, t in per_key[key] if op == "d"}
        if deletes != tombstones.get(key, set()):
            fail(f"{where}: {key}: deletes and tombstones differ")
    extra = set(per_key) - set(history)
    if extra:
        fail(f"{where}: events of ids that nobody wrote: {sorted(extra)[:5]}")


def check_end(per_key, database, fail):
    """The last event of every id equals the database."""
    stored = {(c, d["_id"]): d for c in ("a", "b") for d in database[c].find()}
    for key, events in per_key.items():
        last = events[-1]
        if (last[0] == "d") != (key not in stored):
            fail(f"{key}: last event {last[0]}, but in the database: {key in stored}")
        if key in stored and stored[key]["v"] != last[1]:
            fail(f"{key}: last event has version {last[1]}, the database {stored[key]['v']}")
