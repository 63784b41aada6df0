# SPDX-License-Identifier: Apache-2.0
"""`mongocdc tail` against the stand-in: events, forms, filters, and every way to end.

    tail_test.py --mongocdc BIN --standin BIN

Ends with "N passed, N failed"; exit code 1 when one failed.
"""
import json
import os
import signal
import subprocess

import pymongo

from processes import Standin, options, run_cases, wait_for

SECRET = "s3cr3t-p@ss/word"
ENCODED = "s3cr3t-p%40ss%2Fword"


class Tail:
    """One run, its output in files."""

    def __init__(self, folder, uri, *arguments, stdout=None):
        self.folder, self.out_path, self.err_path = folder, os.path.join(folder, "out"), os.path.join(folder, "err")
        with open(self.out_path, "w") as out, open(self.err_path, "w") as err:
            self.process = subprocess.Popen([options.mongocdc, "tail", uri, "--log-level", "info", *arguments],
                                            stdout=stdout or out, stderr=err, cwd=folder)

    def err(self):
        with open(self.err_path) as f:
            return f.read()

    def out(self):
        with open(self.out_path) as f:
            return f.read()

    def ready(self):
        wait_for(lambda: "starts from now at" in self.err() or self.process.poll() is not None, "the stream")
        assert self.process.poll() is None, self.err()
        return self

    def lines(self, count):
        wait_for(lambda: self.out().count("\n") >= count, f"{count} lines")
        return self.out().splitlines()

    def events(self, count):
        return [json.loads(line) for line in self.lines(count)]

    def code(self):
        return self.process.wait(20)

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.code()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert SECRET not in self.err() and ENCODED not in self.err(), self.err()
        if os.path.exists(self.out_path):
            assert SECRET not in self.out() and ENCODED not in self.out()
        assert sorted(os.listdir(self.folder)) == ["err", "out"], os.listdir(self.folder)


def ids(events):
    return [json.loads(e["after"])["_id"] for e in events]


# --- The cases ----------------------------------------------------------------------------------

def events_one_a_line(folder):
    with Standin() as standin:
        c = pymongo.MongoClient(standin.uri).shop.orders
        c.insert_one({"_id": "before"})
        with Tail(folder, standin.uri) as t:
            t.ready()
            c.insert_one({"_id": "a", "n": 1})
            assert len(t.lines(1)) == 1  # at once, not when more has come
            c.update_one({"_id": "a"}, {"$set": {"n": 2}})
            c.delete_one({"_id": "a"})
            c.insert_one({"_id": "b"})
            events = t.events(4)
            assert [e["op"] for e in events] == ["c", "u", "d", "c"], events  # and no tombstone
            assert events[0]["source"]["db"] == "shop" and events[0]["source"]["collection"] == "orders"
            assert events[0]["source"]["name"] == "tail"
            assert json.loads(events[1]["after"])["n"] == 2 and events[1]["updateDescription"]
            assert "schema" not in events[0]
            assert t.stop() == 0, t.err()


def limit(folder):
    with Standin() as standin:
        c = pymongo.MongoClient(standin.uri).db.c
        with Tail(folder, standin.uri, "--limit", "3") as t:
            t.ready()
            c.insert_many([{"_id": str(i)} for i in range(10)])
            assert t.code() == 0, t.err()
            assert ids(t.events(3)) == ["0", "1", "2"] and t.out().count("\n") == 3


def full_adds_the_schema(folder):
    with Standin() as standin:
        with Tail(folder, standin.uri, "--full", "--limit", "1") as t:
            t.ready()
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
            assert t.code() == 0, t.err()
            event = t.events(1)[0]
            assert set(event) == {"schema", "payload"} and event["schema"]["type"] == "struct"
            assert event["payload"]["op"] == "c"


def pretty(folder):
    with Standin() as standin:
        with Tail(folder, standin.uri, "--pretty", "--limit", "1") as t:
            t.ready()
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": "{,:[\"", "list": [1, [], {}]})
            assert t.code() == 0, t.err()
            text = t.out()
            event = json.loads(text)
            assert text == json.dumps(event, indent=2, ensure_ascii=False) + "\n", text
            assert json.loads(event["after"])["_id"] == "{,:[\""


def filters(folder):
    with Standin() as standin:
        client = pymongo.MongoClient(standin.uri)

        def seen(*arguments):
            """The namespaces that come of a change to each of some; the last always comes."""
            with Tail(folder, standin.uri, *arguments) as t:
                t.ready()
                for name in ("a.x", "a.y", "b.x", "last.last"):
                    db, coll = name.split(".")
                    client[db][coll].insert_one({})
                wait_for(lambda: "\"last\"" in t.out(), "the last event")
                assert t.stop() == 0, t.err()
                events = [json.loads(line)["source"] for line in t.out().splitlines()]
                return [f"{e['db']}.{e['collection']}" for e in events]

        assert seen() == ["a.x", "a.y", "b.x", "last.last"]
        assert seen("--database-include", "a,last") == ["a.x", "a.y", "last.last"]
        assert seen("--database-include", "a", "--database-include", "last") == ["a.x", "a.y", "last.last"]
        assert seen("--database-exclude", "a") == ["b.x", "last.last"]
        assert seen("--collection-include", ".*\\.x", "--collection-include", "last.last") == ["a.x", "b.x", "last.last"]
        assert seen("--collection-exclude", "a.x,b.x") == ["a.y", "last.last"]


def scopes_and_capture_mode(folder):
    with Standin() as standin:
        client = pymongo.MongoClient(standin.uri)
        with Tail(folder, standin.uri, "--db", "a", "--limit", "2") as t:
            t.ready()
            assert "database a" in t.err()
            for db, coll in (("b", "x"), ("a", "x"), ("b", "x"), ("a", "y")):
                client[db][coll].insert_one({})
            assert t.code() == 0, t.err()
            assert [e["source"]["collection"] for e in t.events(2)] == ["x", "y"]
        with Tail(folder, standin.uri, "--collection", "a.x", "--capture-mode", "change_streams", "--limit", "2") as t:
            t.ready()
            assert "collection a.x" in t.err()
            client.a.y.insert_one({})
            client.a.x.insert_one({"_id": 1})
            client.a.x.update_one({"_id": 1}, {"$set": {"n": 1}})
            assert t.code() == 0, t.err()
            events = t.events(2)
            assert [e["op"] for e in events] == ["c", "u"] and not events[1]["after"], events


def signals_end_it_cleanly(folder):
    with Standin() as standin:
        for number in (signal.SIGINT, signal.SIGTERM):
            with Tail(folder, standin.uri) as t:
                assert t.ready().stop(number) == 0, t.err()


def head_ends_it(folder):
    """The pipe is closed behind the first line; no other event comes."""
    with Standin() as standin:
        read, write = os.pipe()
        with Tail(folder, standin.uri, stdout=write) as t:
            os.close(write)
            t.ready()
            pymongo.MongoClient(standin.uri).db.c.insert_one({"_id": 1})
            with os.fdopen(read) as pipe:
                assert json.loads(pipe.readline())["op"] == "c"
            assert t.code() == 0, t.err()
            assert "rror" not in t.err(), t.err()


def a_pipe_closed_while_much_is_written(folder):
    with Standin() as standin:
        c = pymongo.MongoClient(standin.uri).db.c
        read, write = os.pipe()
        with Tail(folder, standin.uri, stdout=write) as t:
            os.close(write)
            t.ready()
            c.insert_many([{"_id": i, "pad": "x" * 2000} for i in range(500)])
            assert os.read(read, 100)
            os.close(read)
            assert t.code() == 0, t.err()
            assert "rror" not in t.err(), t.err()


def a_reader_that_does_not_read_holds_nothing_up(folder):
    """SIGINT ends the program though the pipe is full."""
    with Standin() as standin:
        c = pymongo.MongoClient(standin.uri).db.c
        read, write = os.pipe()
        with Tail(folder, standin.uri, stdout=write) as t:
            os.close(write)
            t.ready()
            c.insert_many([{"_id": i, "pad": "x" * 2000} for i in range(500)])
            assert os.read(read, 100)  # it has begun to write, a megabyte for a pipe of 64 KiB
            assert t.stop() == 0, t.err()
            os.close(read)


def nothing_is_lost_on_a_slow_reader(folder):
    with Standin() as standin:
        c = pymongo.MongoClient(standin.uri).db.c
        read, write = os.pipe()
        with Tail(folder, standin.uri, "--limit", "500", stdout=write) as t:
            os.close(write)
            t.ready()
            c.insert_many([{"_id": str(i), "pad": "x" * 2000} for i in range(500)])
            with os.fdopen(read) as pipe:
                assert ids(json.loads(line) for line in pipe) == [str(i) for i in range(500)]
            assert t.code() == 0, t.err()


def failures_are_3(folder):
    with Standin("--standalone") as standin, Tail(folder, standin.uri) as t:
        assert t.code() == 3 and "standalone" in t.err(), t.err()
        assert not t.out()
    with Standin("--user", "cdc:right-password:readAnyDatabase@admin") as standin:
        with Tail(folder, standin.uri_of("cdc", ENCODED)) as t:
            assert t.code() == 3 and "authentication failed" in t.err().lower(), t.err()
    with Standin("--user", f"cdc:{SECRET}:read@a") as standin:
        with Tail(folder, standin.uri_of("cdc", ENCODED)) as t:
            assert t.code() == 3 and "lacks the rights" in t.err(), t.err()
        with Tail(folder, standin.uri_of("cdc", ENCODED), "--db", "a") as t:
            assert t.ready().stop() == 0


def full_disk_is_3(folder):
    if not os.path.exists("/dev/full"):
        return
    with Standin() as standin, open("/dev/full", "w") as full, Tail(folder, standin.uri, stdout=full) as t:
        t.ready()
        pymongo.MongoClient(standin.uri).db.c.insert_one({})
        assert t.code() == 3 and "No space left" in t.err(), t.err()


def wrong_usage_is_2(folder):
    def run(*arguments):
        done = subprocess.run([options.mongocdc, "tail", *arguments], capture_output=True, text=True, timeout=20)
        assert done.returncode == 2 and not done.stdout and done.stderr, done
        assert SECRET not in done.stderr and ENCODED not in done.stderr, done.stderr
        return done.stderr

    uri = f"mongodb://cdc:{ENCODED}@127.0.0.1:1/"
    run()
    run(uri, uri)
    assert "connection.string" in run(f"mongo://cdc:{ENCODED}@h/")
    assert "connection.string" in run(f"mongodb://cdc:{SECRET}@h/")
    assert "capture.mode" in run(uri, "--capture-mode", "oplog")
    assert "capture.target" in run(uri, "--collection", "no-dot")
    assert "collection.include.list" in run(uri, "--collection-include", "(")
    both = run(uri, "--collection-include", "a.b", "--collection-exclude", "a.c", "--database-include", "[")
    assert "collection.exclude.list" in both and "database.include.list" in both, both  # all at once
    run(uri, "--db", "a", "--collection", "a.b")
    run(uri, "--limit", "0")


run_cases([events_one_a_line, limit, full_adds_the_schema, pretty, filters, scopes_and_capture_mode,
           signals_end_it_cleanly, head_ends_it, a_pipe_closed_while_much_is_written,
           a_reader_that_does_not_read_holds_nothing_up, nothing_is_lost_on_a_slow_reader, failures_are_3,
           full_disk_is_3, wrong_usage_is_2])
