# SPDX-License-Identifier: Apache-2.0
"""The service as a process: exit codes, signals, state of other processes, connectors beside failed ones.

    service_test.py --mongocdc BIN --standin BIN

Prints a line a case and ends with "N passed, N failed"; exit code 1 when one failed.
"""
import json
import os
import signal
import sqlite3
import subprocess
import time

import pymongo

from processes import Standin, options, run_cases, wait_for

SECRET = "s3cr3t-p@ss/word"
ENCODED = "s3cr3t-p%40ss%2Fword"


def connector(uri, prefix="t", **more):
    return {
        "source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": prefix, "snapshot.mode": "no_data",
        "offset.flush.interval.ms": 50, "sinks": {"out": {"type": "file", "path": f"{prefix}.jsonl"}}, **more,
    }


class Service:
    """One run of mongocdc in a folder."""

    def __init__(self, folder, connectors, state="state.db", name="config.json"):
        self.folder = folder
        config = os.path.join(folder, name)
        with open(config, "w") as f:
            json.dump({"state": {"path": state}, "connectors": connectors}, f)
        self.log_path = config + ".log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([options.mongocdc, "run", config], stdout=log, stderr=log)

    def log(self):
        with open(self.log_path) as f:
            return f.read()

    def wait_log(self, text, seconds=20):
        wait_for(lambda: text in self.log() or self.process.poll() is not None, f"log line {text!r}", seconds)
        assert text in self.log(), f"no {text!r} in:\n{self.log()}"

    def code(self, seconds=20):
        return self.process.wait(seconds)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.code()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def lines(folder, name):
    try:
        with open(os.path.join(folder, name)) as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def read(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return b""


def position_of(folder):
    """The stored position, or None."""
    try:
        with sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True, timeout=5) as db:
            row = db.execute("select position from positions").fetchone()
            return row and row[0]
    except sqlite3.OperationalError:
        return None


def run(*arguments):
    return subprocess.run([options.mongocdc, *arguments], capture_output=True, text=True, timeout=30)


# --- The cases ----------------------------------------------------------------------------------

def version_and_help(folder):
    out = run("--version")
    assert out.returncode == 0 and out.stdout.startswith("mongocdc "), out
    out = run("--help")
    assert out.returncode == 0 and "Exit codes" in out.stdout, out
    out = run("options")
    assert out.returncode == 0 and "collection.include.list" in out.stdout, out


def wrong_usage_is_2(folder):
    assert run().returncode == 2
    assert run("frobnicate").returncode == 2
    assert run("run", os.path.join(folder, "missing.yaml")).returncode == 2


def wrong_configuration_is_2_at_once(folder):
    begin = time.monotonic()
    with Service(folder, {"a": connector(f"mongodb://u:{ENCODED}@127.0.0.1:1/", **{"capture.mode": "oplogg"}),
                          "b": connector("mongodb://127.0.0.1:1/", "u", frobnicate=1)}) as s:
        assert s.code() == 2
        assert time.monotonic() - begin < 1, "took longer than a second"
        log = s.log()
        assert "oplogg" in log and "frobnicate" in log, log  # all mistakes at once
        assert SECRET not in log and ENCODED not in log, log


def signals_stop_cleanly(folder):
    with Standin() as standin:
        for number in (signal.SIGTERM, signal.SIGINT):
            with Service(folder, {"a": connector(standin.uri)}) as s:
                s.wait_log("reads changes")
                assert s.stop(number) == 0, s.log()


def events_arrive_and_resume(folder):
    with Standin() as standin:
        collection = pymongo.MongoClient(standin.uri).db.c
        with Service(folder, {"a": connector(standin.uri)}) as s:
            s.wait_log("starts from now at")
            collection.insert_one({"_id": 1})
            wait_for(lambda: len(lines(folder, "t.jsonl")) == 1, "the first event")
            assert s.stop() == 0
        collection.insert_one({"_id": 2})  # while nobody reads
        with Service(folder, {"a": connector(standin.uri)}) as s:
            s.wait_log("goes on behind")
            collection.insert_one({"_id": 3})
            wait_for(lambda: len(lines(folder, "t.jsonl")) == 3, "all events")
            assert s.stop() == 0
        ids = [json.loads(line)["key"]["payload"]["id"] for line in lines(folder, "t.jsonl")]
        assert ids == ["1", "2", "3"], ids


def standalone_fails_and_all_failed_is_3(folder):
    with Standin("--standalone") as standin, Service(folder, {"a": connector(standin.uri)}) as s:
        assert s.code() == 3, s.log()
        assert "a: failed" in s.log() and "standalone" in s.log(), s.log()


def a_failed_connector_leaves_the_others_running(folder):
    with Standin() as good, Standin("--standalone") as bad:
        with Service(folder, {"bad": connector(bad.uri, "bad"), "good": connector(good.uri, "good")}) as s:
            s.wait_log("bad: failed")
            s.wait_log("reads changes")
            pymongo.MongoClient(good.uri).db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "good.jsonl"), "the good connector's event")
            assert s.stop() == 0


def wrong_password_fails_and_shows_nothing(folder):
    with Standin("--user", "cdc:right-password:readAnyDatabase@admin") as standin:
        uri = standin.uri.replace("mongodb://", f"mongodb://cdc:{ENCODED}@") + "&authSource=admin"
        with Service(folder, {"a": connector(uri)}) as s:
            assert s.code() == 3, s.log()
            log = s.log()
            assert "authentication failed" in log.lower(), log
            assert SECRET not in log and ENCODED not in log, log


def right_password_works(folder):
    with Standin("--user", f"cdc:{SECRET}:readWriteAnyDatabase@admin") as standin:
        plain = connector(standin.uri, **{"mongodb.user": "cdc", "mongodb.password": SECRET})
        in_uri = connector(standin.uri.replace("mongodb://", f"mongodb://cdc:{ENCODED}@"), "u")
        with Service(folder, {"plain": plain, "uri": in_uri}) as s:
            wait_for(lambda: s.log().count("reads changes") == 2, "both connectors")
            client = pymongo.MongoClient(standin.uri, username="cdc", password=SECRET)
            client.db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "t.jsonl") and lines(folder, "u.jsonl"), "both events")
            assert s.stop() == 0
            assert SECRET not in s.log() and ENCODED not in s.log(), s.log()


def a_second_process_on_the_same_state_is_refused(folder):
    with Standin() as standin, Service(folder, {"a": connector(standin.uri)}) as first:
        first.wait_log("reads changes")
        with Service(folder, {"b": connector(standin.uri, "u")}, name="second.json") as second:
            assert second.code() == 2, second.log()
            assert "state.db" in second.log(), second.log()
        assert first.process.poll() is None


def a_changed_prefix_is_refused(folder):
    with Standin() as standin:
        with Service(folder, {"a": connector(standin.uri, "one")}) as s:
            s.wait_log("reads changes")
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "one.jsonl"), "an event")
            assert s.stop() == 0
        with Service(folder, {"a": connector(standin.uri, "two")}) as s:
            assert s.code() == 3, s.log()
            assert "one" in s.log() and "two" in s.log(), s.log()


def another_replica_set_is_refused(folder):
    with Standin() as first:
        with Service(folder, {"a": connector(first.uri)}) as s:
            s.wait_log("reads changes")
            pymongo.MongoClient(first.uri).db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "t.jsonl"), "an event")
            assert s.stop() == 0
    with Standin("--set-name", "other") as second, Service(folder, {"a": connector(second.uri)}) as s:
        assert s.code() == 3, s.log()
        assert "rs0" in s.log() and "other" in s.log(), s.log()


def a_server_that_comes_later_is_waited_for(folder):
    with Standin() as standin:
        port = standin.uri.split(":")[2].split("/")[0]
        uri = standin.uri
    with Service(folder, {"a": connector(uri)}) as s:
        s.wait_log("attempt 1")
        with Standin("--port", port) as standin:
            s.wait_log("reads changes")
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "t.jsonl"), "an event")
            assert s.stop() == 0


def a_set_made_anew_is_no_continuation(folder):
    """The same name and port, but another history: an idle position must not go on behind the gap."""
    with Standin() as standin:
        port = standin.uri.split(":")[2].split("/")[0]
        with Service(folder, {"a": connector(standin.uri)}) as s:
            s.wait_log("starts from now at")
            wait_for(lambda: position_of(folder), "the first stored position")
            assert s.stop() == 0
    time.sleep(1.1)  # the new set's history begins at a later second
    with Standin("--port", port) as standin, Service(folder, {"a": connector(standin.uri)}) as s:
        assert s.code() == 3, s.log()
        assert "is lost" in s.log() and "oldest entry" in s.log(), s.log()


def a_kill_before_the_first_event_loses_nothing(folder):
    with Standin() as standin:
        collection = pymongo.MongoClient(standin.uri).db.c
        slow = connector(standin.uri, **{"offset.flush.interval.ms": 60000})
        with Service(folder, {"a": slow}) as s:
            wait_for(lambda: position_of(folder), "the position where reading began")
            collection.insert_one({"_id": 1})
            s.process.kill()
            s.code()
        collection.insert_one({"_id": 2})
        with Service(folder, {"a": slow}) as s:
            wait_for(lambda: b'"id":"2"' in read(folder, "t.jsonl"), "the change made while nobody read")
            assert s.stop() == 0
        assert b'"id":"1"' in read(folder, "t.jsonl")


def positions_that_cannot_be_stored_are_no_clean_end(folder):
    with Standin() as standin, Service(folder, {"a": connector(standin.uri)}) as s:
        wait_for(lambda: position_of(folder), "the first stored position")
        os.remove(os.path.join(folder, "state.db"))
        pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
        assert s.code() == 3, s.log()
        assert "removed or replaced" in s.log(), s.log()


def an_unknown_host_is_named_and_waited_for(folder):
    with Service(folder, {"a": connector("mongodb://no-such-host.invalid:27017/?replicaSet=rs0")}) as s:
        s.wait_log("attempt 1")
        assert "no-such-host.invalid" in s.log(), s.log()
        assert s.stop() == 0, s.log()


def a_full_disk_fails_the_connector_and_loses_nothing(folder):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=True)
    try:
        with Standin() as standin:
            collection = pymongo.MongoClient(standin.uri).db.c
            c = connector(standin.uri)
            c["schemas.enable"] = False
            c["sinks"]["out"]["path"] = "disk/t.jsonl"
            with Service(folder, {"a": c}) as s:
                wait_for(lambda: position_of(folder), "the first stored position")
                collection.insert_many([{"_id": i, "pad": "x" * 1000} for i in range(500)])
                assert s.code() == 3, s.log()
                assert "No space left" in s.log() and "t.jsonl" in s.log(), s.log()
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
            with Service(folder, {"a": c}) as s:
                wait_for(lambda: b'"id":"499"' in read(folder, "disk/t.jsonl"), "the last record")
                assert s.stop() == 0, s.log()
            ids = [json.loads(json.loads(line)["key"]["id"]) for line in lines(folder, "disk/t.jsonl")]
            assert list(dict.fromkeys(ids)) == list(range(500)), "records are missing or out of order"
    finally:
        subprocess.run(["umount", disk], check=True)


def stops_while_it_waits_for_a_server(folder):
    with Service(folder, {"a": connector("mongodb://127.0.0.1:1/?replicaSet=rs0")}) as s:
        s.wait_log("attempt 1")
        begin = time.monotonic()
        assert s.stop() == 0, s.log()
        assert time.monotonic() - begin < 5


def drops_and_renames_are_control_records_over_kills(folder):
    with Standin() as server:
        c = connector(server.uri, **{"include.ddl.events": True, "schemas.enable": False, "capture.scope": "collection",
                                       "capture.target": "shop.orders", "tombstones.on.delete": False})
        client = pymongo.MongoClient(server.uri)
        shop = client.shop
        steps = [
            lambda: shop.orders.insert_one({"_id": 1}),
            lambda: shop.orders.rename("old"),
            lambda: shop.orders.insert_one({"_id": 2}),
            lambda: shop.orders.drop(),
            lambda: shop.orders.insert_one({"_id": 3}),
            lambda: client.drop_database("shop"),
            lambda: shop.orders.insert_one({"_id": 4}),
        ]
        with Service(folder, {"a": c}) as s:
            s.wait_log("reads changes of")
            wait_for(lambda: position_of(folder), "a stored position")
        for step in steps:  # each between a kill and the next start
            with Service(folder, {"a": c}) as s:
                before = len(lines(folder, "t.jsonl"))
                step()
                wait_for(lambda: len(lines(folder, "t.jsonl")) > before, "a record")
                s.process.kill()
        with Service(folder, {"a": c}) as s:  # what a kill came too early for
            wait_for(lambda: any('"key":{"id":"4"}' in line for line in lines(folder, "t.jsonl")), "the last record")
        records, seen = [], set()
        for line in lines(folder, "t.jsonl"):  # a kill may repeat a record, byte for byte but for the clock
            r = json.loads(line)
            r["value"].pop("ts_ms")
            if json.dumps(r) not in seen:
                seen.add(json.dumps(r))
                records.append(r)
        shown = [(r["topic"], r["key"]["id"], r["value"].get("op") or r["value"]["type"]) for r in records]
        assert shown == [
            ("t.shop.orders", "1", "c"), ("t.shop", "orders", "rename"), ("t.shop.orders", "2", "c"),
            ("t.shop", "orders", "drop"), ("t.shop.orders", "3", "c"), ("t.shop", "orders", "drop"),
            ("t.shop.orders", "4", "c")], shown
        rename = records[1]["value"]
        assert list(rename) == ["source", "type", "ns", "to"], rename
        assert rename["ns"] == {"db": "shop", "coll": "orders"} and rename["to"] == {"db": "shop", "coll": "old"}, rename
        assert rename["source"]["db"] == "shop" and rename["source"]["collection"] == "orders", rename
        assert rename["source"]["ts_ms"] <= records[2]["value"]["source"]["ts_ms"], records


def two_sinks_two_encodings(folder):
    with Standin() as standin:
        c = connector(standin.uri)
        c["sinks"]["bare"] = {"type": "file", "path": "bare.jsonl", "schemas.enable": False}
        with Service(folder, {"a": c}) as s:
            s.wait_log("reads changes")
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
            wait_for(lambda: lines(folder, "t.jsonl") and lines(folder, "bare.jsonl"), "both files")
            assert s.stop() == 0
        full = json.loads(lines(folder, "t.jsonl")[0])
        bare = json.loads(lines(folder, "bare.jsonl")[0])
        assert full["value"]["payload"] == bare["value"] and full["key"]["payload"] == bare["key"]


CASES = [version_and_help, wrong_usage_is_2, wrong_configuration_is_2_at_once, signals_stop_cleanly,
         events_arrive_and_resume, standalone_fails_and_all_failed_is_3, a_failed_connector_leaves_the_others_running,
         wrong_password_fails_and_shows_nothing, right_password_works, a_second_process_on_the_same_state_is_refused,
         a_changed_prefix_is_refused, another_replica_set_is_refused, a_server_that_comes_later_is_waited_for,
         a_set_made_anew_is_no_continuation, a_kill_before_the_first_event_loses_nothing,
         positions_that_cannot_be_stored_are_no_clean_end, an_unknown_host_is_named_and_waited_for,
         a_full_disk_fails_the_connector_and_loses_nothing, stops_while_it_waits_for_a_server, two_sinks_two_encodings,
         drops_and_renames_are_control_records_over_kills]
run_cases(CASES)
