# SPDX-License-Identifier: Apache-2.0
"""`mongocdc check` against the stand-in: what works, and everything that does not.

    check_test.py --mongocdc BIN --standin BIN

Ends with "N passed, N failed"; exit code 1 when one failed.
"""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

import pymongo

from processes import Standin, options, run_cases, wait_for

SECRET = "s3cr3t-p@ss/word"
ENCODED = "s3cr3t-p%40ss%2Fword"
NOBODY = 65534


def connector(uri, **more):
    return {
        "source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": "t", "snapshot.mode": "no_data",
        "offset.flush.interval.ms": 50, "sinks": {"out": {"type": "file", "path": "out.jsonl"}}, **more,
    }


def write(folder, connectors, state="state.db"):
    config = os.path.join(folder, "config.json")
    with open(config, "w") as f:
        json.dump({"state": {"path": state}, "connectors": connectors}, f)
    return config


class Outcome:
    """What one run of `check` printed."""

    def __init__(self, folder, connectors, state="state.db", program=options.mongocdc, **process):
        config = write(folder, connectors, state)
        before = contents(folder)
        begin = time.monotonic()
        done = subprocess.run([program, "check", config], capture_output=True, text=True, timeout=60, **process)
        self.seconds = time.monotonic() - begin
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert contents(folder) == before, f"files changed: {contents(folder)} for {before}"
        for text in (SECRET, ENCODED):
            assert text not in self.out + self.err, "a secret is shown:\n" + self.out + self.err
        self.items = {}
        for line in self.out.splitlines():
            match = re.fullmatch(r"(ok  |warn|fail)  (\S+) +(.*)", line)
            assert match, f"not a line of check: {line!r}"
            self.items[match[2]] = (match[1].strip(), match[3])
        columns = {line.index(self.items[line.split()[1]][1]) for line in self.out.splitlines()}
        assert len(columns) <= 1, "texts are not aligned:\n" + self.out

    def expect(self, item, verdict, *parts):
        assert item in self.items, f"no {item} in:\n{self.out}{self.err}"
        got, text = self.items[item]
        assert got == verdict, f"{item} is not {verdict}:\n{self.out}"
        for part in parts:
            assert part in text, f"no {part!r} in {text!r}"

    def ends_with(self, code):
        assert self.code == code, f"exit code {self.code}, not {code}:\n{self.out}{self.err}"
        assert (code == 4) == any(v == "fail" for v, _ in self.items.values()), self.out


def contents(folder):
    """Every file with its bytes, but for the index of a log, which holds no data."""
    out = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.endswith("-shm"):
                with open(os.path.join(path, name), "rb") as f:
                    out[os.path.join(path, name)] = f.read()
    return out


class Service:
    """`mongocdc run` on a configuration."""

    def __init__(self, folder, connectors):
        self.log_path = os.path.join(folder, "log")
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([options.mongocdc, "run", write(folder, connectors)], stdout=log,
                                            stderr=log)

    def wait_log(self, text):
        def there():
            with open(self.log_path) as f:
                return text in f.read()
        wait_for(there, f"log line {text!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(20) == 0


def position(folder):
    """The stored position of sink out: (JSON, time); nothing: none."""
    with sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True, timeout=5) as db:
        found = db.execute("select position from positions where sink = 'out'").fetchone()
    return found and found[0]


def stored(folder, standin):
    """Leaves a file with an event and a state file with a position."""
    with Service(folder, {"a": connector(standin.uri)}) as s:
        s.wait_log("starts from now at")
        pymongo.MongoClient(standin.uri).db.c.insert_one({})
        wait_for(lambda: os.path.getsize(os.path.join(folder, "out.jsonl")) > 0, "the event")
        wait_for(lambda: position(folder), "a stored position")


# --- The cases ----------------------------------------------------------------------------------

def everything_is_fine(folder):
    with Standin() as standin:
        databases = pymongo.MongoClient(standin.uri).list_database_names()
        c = connector(standin.uri)
        c["sinks"]["nothing"] = {"type": "discard"}
        got = Outcome(folder, {"inventory": c})
        got.ends_with(0)
        got.expect("options", "ok", "config.json", "1 connector")
        got.expect("state", "ok", "state.db will be created")
        got.expect("inventory.connect", "ok", standin.uri.split("/")[2], "primary")
        got.expect("inventory.server", "ok", "MongoDB 4.4.0", "rs0")
        got.expect("inventory.stream", "ok", "the deployment")
        got.expect("inventory.oplog", "ok", "20", "timestamp")
        got.expect("inventory.sink.out", "ok", "out.jsonl can be created", "free")
        got.expect("inventory.sink.nothing", "ok", "keeps nothing")
        assert list(got.items) == ["options", "state", "inventory.connect", "inventory.server", "inventory.stream",
                                   "inventory.oplog", "inventory.sink.out", "inventory.sink.nothing"], got.out
        assert not got.err, got.err
        assert pymongo.MongoClient(standin.uri).list_database_names() == databases, "something was written"


def state_in_memory(folder):
    with Standin() as standin:
        got = Outcome(folder, {"a": connector(standin.uri)}, state="memory")
        got.ends_with(0)
        got.expect("state", "ok", "memory")


def wrong_configuration_is_2(folder):
    config = write(folder, {"a": connector(f"mongodb://u:{ENCODED}@127.0.0.1:1/", frobnicate=1)})
    done = subprocess.run([options.mongocdc, "check", config], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2, done
    assert "frobnicate" in done.stderr and not done.stdout, done
    assert ENCODED not in done.stderr
    assert subprocess.run([options.mongocdc, "check"], capture_output=True, timeout=20).returncode == 2


def wrong_password(folder):
    with Standin("--user", "cdc:right-password:readAnyDatabase@admin") as standin:
        got = Outcome(folder, {"a": connector(standin.uri_of("cdc", ENCODED))})
        got.ends_with(4)
        got.expect("a.connect", "fail", "credentials", "uthentication failed")
        got.expect("a.sink.out", "ok")  # looked at all the same
        assert "a.stream" not in got.items, got.out


def standalone(folder):
    with Standin("--standalone") as standin:
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.connect", "ok", "Standalone")
        got.expect("a.server", "fail", "standalone", "replica set")


def rights_are_named(folder):
    """A user who may read one database, with each scope."""
    with Standin("--user", f"cdc:{SECRET}:read@inventory") as standin:
        uri = standin.uri_of("cdc", ENCODED)

        got = Outcome(folder, {"a": connector(uri)})
        got.ends_with(4)
        got.expect("a.connect", "ok")
        got.expect("a.stream", "fail", "changeStream and find", "every database", "readAnyDatabase", "13")
        got.expect("a.oplog", "warn", "local.oplog.rs", "find")

        narrow = {"capture.scope": "database", "capture.target": "inventory"}
        got = Outcome(folder, {"a": connector(uri, **narrow)})
        got.ends_with(0)
        got.expect("a.stream", "ok", "database inventory")

        other = {"capture.scope": "database", "capture.target": "payroll"}
        got = Outcome(folder, {"a": connector(uri, **other)})
        got.ends_with(4)
        got.expect("a.stream", "fail", "changeStream and find", "database payroll", "role read")

        one = {"capture.scope": "collection", "capture.target": "payroll.people"}
        got = Outcome(folder, {"a": connector(uri, **one)})
        got.ends_with(4)
        got.expect("a.stream", "fail", "changeStream and find", "collection payroll.people")


def unreachable_host(folder):
    with socket.socket() as s:  # bound and not listening: refused
        s.bind(("127.0.0.1", 0))
        uri = f"mongodb://u:{ENCODED}@127.0.0.1:{s.getsockname()[1]}/?replicaSet=rs0"
        got = Outcome(folder, {"a": connector(uri)})
        got.ends_with(4)
        got.expect("a.connect", "fail", "no suitable server", "127.0.0.1")
        assert got.seconds < 10, got.seconds
        got.expect("a.sink.out", "ok")


def a_server_that_never_answers_does_not_hang(folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        uri = f"mongodb://127.0.0.1:{s.getsockname()[1]}/?replicaSet=rs0"
        got = Outcome(folder, {"a": connector(uri, **{"mongodb.connect.timeout.ms": 500})})
        got.ends_with(4)
        got.expect("a.connect", "fail")
        assert got.seconds < 10, got.seconds


def a_signal_ends_it_at_once(folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        uri = f"mongodb://127.0.0.1:{s.getsockname()[1]}/?replicaSet=rs0"
        config = write(folder, {"a": connector(uri, **{"mongodb.connect.timeout.ms": 60000})})
        with subprocess.Popen([options.mongocdc, "check", config], stdout=subprocess.PIPE, text=True) as process:
            s.accept()[0].recv(1)  # it is connecting
            process.send_signal(signal.SIGINT)
            assert process.wait(5) == -signal.SIGINT


def unknown_host(folder):
    got = Outcome(folder, {"a": connector("mongodb://no-such-host.invalid/?replicaSet=rs0")})
    got.ends_with(4)
    got.expect("a.connect", "fail", "no-such-host.invalid")


def unwritable_folders(folder):
    closed = os.path.join(folder, "closed")
    os.mkdir(closed)
    os.chmod(folder, 0o755)
    with Standin() as standin:
        c = connector(standin.uri)
        c["sinks"] = {"out": {"type": "file", "path": "closed/new/out.jsonl"},
                      "below": {"type": "file", "path": "config.json/out.jsonl"}}
        os.chmod(closed, 0o555)
        with tempfile.TemporaryDirectory() as elsewhere:
            other = {}
            if os.geteuid() == 0:  # who may write anywhere; and the build folder may be closed to others
                os.chmod(elsewhere, 0o755)
                other = {"program": shutil.copy(options.mongocdc, elsewhere), "user": NOBODY, "group": NOBODY,
                         "extra_groups": []}
            got = Outcome(folder, {"a": c}, state="closed/state.db", **other)
        got.ends_with(4)
        got.expect("state", "fail", "closed", "ermission denied")
        got.expect("a.sink.out", "fail", "closed", "ermission denied")
        got.expect("a.sink.below", "fail", "config.json is not a folder")
        os.chmod(closed, 0o755)

        got = Outcome(folder, {"a": connector(standin.uri)}, state="missing/state.db")
        got.ends_with(4)
        got.expect("state", "fail", "missing does not exist")


def a_file_that_is_written_by_someone(folder):
    path = os.path.join(folder, "out.jsonl")
    with Standin() as standin, open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.sink.out", "fail", "out.jsonl is being written")


def a_file_of_something_else(folder):
    with open(os.path.join(folder, "out.jsonl"), "w") as f:
        f.write("somebody's text without an end")
    with Standin() as standin:
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.sink.out", "fail", "out.jsonl")


def a_stored_position_that_is_there(folder):
    with Standin() as standin:
        stored(folder, standin)
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(0)
        got.expect("state", "ok", "state.db is sound")
        got.expect("a.identity", "ok", "rs0", "as stored")
        got.expect("a.position.out", "ok", "can be resumed", "timestamp")
        got.expect("a.sink.out", "ok", "appended to")
        # A sink that is new has none.
        c = connector(standin.uri)
        c["sinks"]["new"] = {"type": "discard"}
        got = Outcome(folder, {"a": c})
        got.ends_with(0)
        got.expect("a.position.new", "ok", "none is stored")
        # And where none of the sinks has one, it is worth a warning.
        c["sinks"] = {"renamed": {"type": "discard"}}
        got = Outcome(folder, {"a": c})
        got.ends_with(0)
        got.expect("a.identity", "warn", "starts from now")


def a_state_file_with_a_log_that_a_crash_left(folder):
    with Standin() as standin:
        with Service(folder, {"a": connector(standin.uri)}) as s:
            s.wait_log("starts from now at")
            pymongo.MongoClient(standin.uri).db.c.insert_one({})
            wait_for(lambda: os.path.getsize(os.path.join(folder, "out.jsonl")) > 0, "the event")
            wait_for(lambda: position(folder), "a stored position")
            s.process.kill()
            s.process.wait()
        assert os.path.getsize(os.path.join(folder, "state.db-wal")) > 0
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(0)
        got.expect("a.position.out", "ok", "can be resumed")


def a_position_that_is_lost(folder):
    with Standin("--oplog-limit", "20") as standin:
        stored(folder, standin)
        collection = pymongo.MongoClient(standin.uri).db.c
        for _ in range(40):
            collection.insert_one({})
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.oplog", "ok")
        text = got.items["a.position.out"][1]
        got.expect("a.position.out", "fail", "is lost", "oplog:")
        assert len(re.findall(r"timestamp \d+, \d+", text)) == 3, text  # of the position, and both ends
        # Where the service would go on, it is no failure.
        got = Outcome(folder, {"a": connector(standin.uri, **{"on.lost.position": "from_now"})})
        got.ends_with(0)
        got.expect("a.position.out", "warn", "is lost", "goes on from now")


def a_lost_event_position_in_silence(folder):
    """The server opens such a stream and says nothing until an event of the target comes."""
    narrow = {"capture.scope": "collection", "capture.target": "db.c"}
    with Standin("--oplog-limit", "20") as standin:
        c = connector(standin.uri, **narrow)
        client = pymongo.MongoClient(standin.uri)
        with Service(folder, {"a": c}) as s:
            s.wait_log("starts from now at")
            client.db.c.insert_one({})
            wait_for(lambda: os.path.getsize(os.path.join(folder, "out.jsonl")) > 0, "the event")
            wait_for(lambda: position(folder), "a stored position")
            s.process.kill()
            s.process.wait()
        for _ in range(40):
            client.other.x.insert_one({})
        got = Outcome(folder, {"a": c})
        got.ends_with(4)
        got.expect("a.position.out", "fail", "is lost")


def another_prefix_or_set(folder):
    with Standin() as standin:
        stored(folder, standin)
        got = Outcome(folder, {"a": connector(standin.uri, **{"topic.prefix": "changed"})})
        got.ends_with(4)
        got.expect("a.identity", "fail", '"t"', '"changed"')
        assert "a.position.out" not in got.items, got.out
    with Standin("--set-name", "other") as standin:
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.identity", "fail", "rs0", "other")


def a_running_service(folder):
    with Standin() as standin, Service(folder, {"a": connector(standin.uri)}) as s:
        s.wait_log("starts from now at")
        pymongo.MongoClient(standin.uri).db.c.insert_one({})
        wait_for(lambda: position(folder), "a stored position")
        config = write(folder, {"a": connector(standin.uri)})
        done = subprocess.run([options.mongocdc, "check", config], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        assert re.search(r"^warn  state .*in use.*process \d+", done.stdout, re.M), done.stdout
        assert re.search(r"^ok    a\.position\.out .*can be resumed", done.stdout, re.M), done.stdout
        assert re.search(r"^warn  a\.sink\.out .*being written", done.stdout, re.M), done.stdout
        assert s.process.poll() is None
        # The service is none the worse for it.
        before = position(folder)
        pymongo.MongoClient(standin.uri).db.c.insert_one({})
        wait_for(lambda: position(folder) != before, "a later position")


def state_files_that_are_none(folder):
    path = os.path.join(folder, "state.db")
    with Standin() as standin:
        def outcome():
            return Outcome(folder, {"a": connector(standin.uri)})
        with open(path, "wb") as f:
            f.write(b"this is not a database, " * 100)
        got = outcome()
        got.ends_with(4)
        got.expect("state", "fail", "state.db", "left as it is")
        os.remove(path)
        with sqlite3.connect(path) as db:
            db.execute("create table positions(x)")
            db.execute("pragma user_version = 99")
        db.close()
        got = outcome()
        got.ends_with(4)
        got.expect("state", "fail", "newer")
        os.remove(path)
        open(path, "w").close()
        got = outcome()
        got.ends_with(0)
        got.expect("state", "ok", "empty")


def a_position_that_cannot_be_read(folder):
    with Standin() as standin:
        stored(folder, standin)
        with sqlite3.connect(os.path.join(folder, "state.db")) as db:
            db.execute("update positions set position = '{}'")
        db.close()
        got = Outcome(folder, {"a": connector(standin.uri)})
        got.ends_with(4)
        got.expect("a.position.out", "fail", "cannot be read")


def a_webhook_is_connected_to_and_given_nothing(folder):
    with Standin() as standin, socket.socket() as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.listen()
        c = connector(standin.uri)
        c["sinks"] = {"hook": {"type": "webhook", "url": f"http://127.0.0.1:{receiver.getsockname()[1]}/in"}}
        got = Outcome(folder, {"a": c})
        got.ends_with(0)
        got.expect("a.sink.hook", "ok", "127.0.0.1")
        with receiver.accept()[0] as connection:
            assert connection.recv(1000) == b"", "something was sent"
        receiver.close()
        got = Outcome(folder, {"a": c})
        got.ends_with(4)
        got.expect("a.sink.hook", "fail", "127.0.0.1")


def several_connectors(folder):
    with Standin() as good, Standin("--standalone") as bad:
        second = connector(good.uri)
        second["sinks"] = {"long-sink-name": {"type": "discard"}}
        second["topic.prefix"] = "u"
        got = Outcome(folder, {"bad": connector(bad.uri), "good": second})
        got.ends_with(4)
        got.expect("bad.server", "fail")
        got.expect("good.stream", "ok")
        got.expect("good.sink.long-sink-name", "ok")


run_cases([everything_is_fine, state_in_memory, wrong_configuration_is_2, wrong_password, standalone,
           rights_are_named, unreachable_host,
           a_server_that_never_answers_does_not_hang, a_signal_ends_it_at_once, unknown_host, unwritable_folders,
           a_file_that_is_written_by_someone, a_file_of_something_else, a_stored_position_that_is_there,
           a_state_file_with_a_log_that_a_crash_left, a_position_that_is_lost, a_lost_event_position_in_silence,
           another_prefix_or_set, a_running_service, state_files_that_are_none, a_position_that_cannot_be_read,
           a_webhook_is_connected_to_and_given_nothing, several_connectors])
