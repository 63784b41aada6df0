# SPDX-License-Identifier: Apache-2.0
"""Drives the program mongocdc-standin with pymongo, as any client would.

Usage: standin_pymongo.py PATH_OF_MONGOCDC_STANDIN
Ends with "N passed, N failed"; the exit code is 0 when none failed.
"""
import contextlib
import datetime
import os
import subprocess
import tempfile
import threading

import pymongo
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from pymongo import errors, monitoring

from standin_client import BINARY, connected, fresh, program, raw_stream, refused, take, test, run_tests


@test
def greeting():
    with fresh() as client:
        info = client.server_info()
        assert info["version"] == "4.4.0" and info["versionArray"] == [4, 4, 0, 0]
        hello = client.admin.command("isMaster")
        assert hello["setName"] == "rs0" and hello["maxWireVersion"] == 9 and hello["ismaster"]
        refused(59, lambda: client.admin.command("hello"))
        assert client.admin.command("ping")["ok"] == 1.0
        assert client.primary == client.address
        e = refused(59, lambda: client.admin.command("makeCoffee"))
        assert e.details["errmsg"] == "no such command: 'makeCoffee'"
        assert e.details["codeName"] == "CommandNotFound"


@test
def newer_versions():
    for version, wire in (("5.0.0", 13), ("6.0.0", 17), ("7.0.0", 21), ("8.0.0", 25)):
        with fresh("--version", version, "--set-name", "other") as client:
            hello = client.admin.command("hello")
            assert hello["isWritablePrimary"] and hello["maxWireVersion"] == wire
            assert hello["setName"] == "other"
            with client.db.c.watch(max_await_time_ms=50) as stream:
                client.db.c.insert_one({"_id": 1})
                client.db.c.update_one({"_id": 1}, {"$set": {"a": 1}})
                insert, update = take(stream, 2)
            assert ("wallTime" in insert) == (version >= "6")
            assert ("truncatedArrays" in update["updateDescription"]) == (version >= "6")


@test
def inserts_and_queries():
    with fresh() as client:
        c = client.db.c
        c.insert_many([{"_id": i, "n": i % 5, "tags": [i, i + 1], "sub": {"x": i}} for i in range(300)])
        assert c.count_documents({}) == 300 and c.estimated_document_count() == 300
        assert [d["_id"] for d in c.find().batch_size(7)] == list(range(300))
        assert c.count_documents({"n": 3}) == 60
        assert c.count_documents({"n": {"$gte": 3}}) == 120
        assert [d["_id"] for d in c.find({"tags": 8})] == [7, 8]
        assert [d["_id"] for d in c.find({"sub.x": {"$in": [1, 5]}})] == [1, 5]
        assert [d["_id"] for d in c.find({"$or": [{"_id": 1}, {"_id": {"$gt": 298}}]})] == [1, 299]
        assert [d["_id"] for d in c.find({"$and": [{"n": 1}, {"_id": {"$lt": 10}}]})] == [1, 6]
        assert c.count_documents({"missing": {"$exists": False}}) == 300
        assert [d["_id"] for d in c.find().sort([("n", -1), ("_id", 1)]).limit(2)] == [4, 9]
        assert [d["_id"] for d in c.find().sort("_id", -1).skip(1).limit(1)] == [298]
        assert c.find_one({"_id": 5}, {"sub": 1}) == {"_id": 5, "sub": {"x": 5}}
        assert c.find_one({"_id": 5}, {"sub": 0, "tags": 0}) == {"_id": 5, "n": 0}
        refused(2, lambda: c.find_one({"n": {"$near": 1}}))
        assert c.insert_one({"a": 1}).inserted_id == c.find_one({"a": 1})["_id"]


@test
def all_id_types():
    ids = [1, 1.5, Int64(7), "s", ObjectId(), True, None, datetime.datetime(2020, 1, 1), Timestamp(1, 2),
           Binary(b"x"), Binary(b"y", 5), Decimal128("1.10"), {"a": 1}, {}, MinKey(), MaxKey(), Code("f")]
    with fresh() as client:
        c = client.db.c
        for i in ids:
            c.insert_one({"_id": i, "v": 1})
        for i in ids:
            assert c.update_one({"_id": i}, {"$set": {"v": 2}}).modified_count == 1, i
            e = refused(11000, lambda i=i: c.insert_one({"_id": i}))
            assert e.details["keyPattern"] == {"_id": 1}
        assert c.count_documents({"v": 2}) == len(ids)
        for i in ids:
            assert c.delete_one({"_id": i}).deleted_count == 1, i
        assert c.insert_one({"_id": 5}).acknowledged
        refused(11000, lambda: c.insert_one({"_id": 5.0}))
        for i in (Regex("a"), [1]):
            refused(2, lambda i=i: c.insert_one({"_id": i}))


@test
def writes():
    with fresh() as client:
        c = client.db.c
        c.insert_one({"_id": 1, "a": 1})
        assert c.update_one({"_id": 1}, {"$inc": {"a": 1}, "$push": {"t": {"$each": [1, 2], "$slice": -1}}}).modified_count == 1
        assert c.update_one({"_id": 1}, {"$set": {"a": 2}}).modified_count == 0
        assert c.find_one() == {"_id": 1, "a": 2, "t": [2]}
        upserted = c.update_one({"_id": 9}, {"$setOnInsert": {"s": 1}, "$set": {"x": 1}}, upsert=True)
        assert upserted.upserted_id == 9
        assert c.replace_one({"_id": 9}, {"y": 1}).modified_count == 1
        assert c.update_many({}, {"$set": {"all": True}}).modified_count == 2
        assert c.find_one_and_update({"_id": 9}, {"$inc": {"y": 1}}, return_document=True)["y"] == 2
        assert c.find_one_and_update({"_id": 9}, {"$inc": {"y": 1}})["y"] == 2
        assert c.find_one_and_delete({"_id": 9})["y"] == 3
        assert c.find_one_and_replace({"_id": 77}, {"z": 1}, upsert=True, return_document=True) == {"_id": 77, "z": 1}
        assert c.delete_many({}).deleted_count == 2
        refused(66, lambda: (c.insert_one({"_id": 1}), c.update_one({"_id": 1}, {"$set": {"_id": 2}})))
        refused(9, lambda: c.update_one({"_id": 1}, {"$bad": {"a": 1}}))
        refused(14, lambda: (c.update_one({"_id": 1}, {"$set": {"s": "x"}}), c.update_one({"_id": 1}, {"$inc": {"s": 1}})))
        try:
            c.insert_many([{"_id": 1}, {"_id": 2}, {"_id": 1}, {"_id": 3}], ordered=False)
            raise AssertionError("duplicates accepted")
        except errors.BulkWriteError as e:
            assert e.details["nInserted"] == 2 and [w["index"] for w in e.details["writeErrors"]] == [0, 2]
        unacknowledged = client.db.get_collection("c", write_concern=pymongo.WriteConcern(w=0))
        unacknowledged.insert_one({"_id": "w0"})
        assert client.db.c.count_documents({}) >= 3


@test
def catalog():
    with fresh() as client:
        client.db.create_collection("made")
        refused(48, lambda: client.db.command("create", "made"))
        client.db.c.insert_one({})
        assert client.list_database_names() == ["admin", "config", "db", "local"]
        assert sorted(client.db.list_collection_names()) == ["c", "made"]
        assert client.db.list_collection_names(filter={"name": "c"}) == ["c"]
        info = next(client.db.list_collections(filter={"name": "c"}))
        assert list(info) == ["name", "type", "options", "info", "idIndex"] and info["info"]["uuid"].subtype == 4
        client.db.c.rename("renamed")
        refused(26, lambda: client.db.c.rename("x"))
        client.db.drop_collection("renamed")
        refused(26, lambda: client.db.command("drop", "renamed"))
        client.drop_database("db")
        assert client.list_database_names() == ["admin", "config", "local"]


@test
def sessions_and_cursors():
    with fresh() as client:
        client.db.c.insert_many([{"_id": i} for i in range(10)])
        with client.start_session() as one, client.start_session() as two:
            cursor = raw_stream(client, "db", "c", session=one)
            get_more = {"getMore": cursor["id"], "collection": "c", "maxTimeMS": 1}
            refused(50738, lambda: client.db.command(get_more, session=two))
            assert client.db.command(get_more, session=one)["cursor"]["id"] == cursor["id"]
            killed = client.db.command("killCursors", "c", cursors=[cursor["id"], Int64(5)], session=one)
            assert killed["cursorsKilled"] == [cursor["id"]] and killed["cursorsNotFound"] == [5]
            e = refused(43, lambda: client.db.command(get_more, session=one))
            assert e.details["errmsg"] == f"cursor id {cursor['id']} not found"
            cursor = raw_stream(client, "db", "c", session=one)
            client.admin.command("killSessions", [one.session_id])
            get_more["getMore"] = cursor["id"]
            refused(43, lambda: client.db.command(get_more, session=one))
        with client.start_session() as session:
            session.start_transaction()
            refused(20, lambda: client.db.c.insert_one({}, session=session))
            with contextlib.suppress(errors.PyMongoError):
                session.abort_transaction()


@test
def retryable_writes():
    with fresh() as client:
        with client.start_session() as session:
            command = {"insert": "c", "documents": [{"_id": 1}], "txnNumber": Int64(1)}
            lsid = session.session_id
            def send(number, documents):
                return client.db.command({**command, "documents": documents, "txnNumber": Int64(number),
                                          "lsid": lsid})
            first = send(5, [{"_id": 1}])
            again = send(5, [{"_id": 1}])
            assert first == again and "writeErrors" not in again
            assert client.db.c.count_documents({}) == 1
            refused(225, lambda: send(4, [{"_id": 2}]))
            assert "writeErrors" in client.db.command({**command, "txnNumber": Int64(6), "lsid": lsid})


@test
def authentication():
    users = ["--user", "root:secret", "--user", "reader:pass=word,1:read@db", "--user", "nobody:x:",
             "--user", "all:x:readAnyDatabase"]
    with program(*users) as uri:
        def login(name, password, **more):
            return connected(uri, username=name, password=password, **more)
        with login("root", "secret") as root:
            root.db.c.insert_one({"_id": 1})
            assert root.db.c.find_one() == {"_id": 1}
        with connected(uri) as anonymous:
            e = refused(13, lambda: anonymous.db.c.find_one())
            assert e.details["errmsg"] == "command find requires authentication"
        with login("root", "wrong") as wrong:
            e = refused(18, lambda: wrong.db.c.find_one())
            assert e.details["errmsg"] == "Authentication failed."
        with login("stranger", "x") as stranger:
            refused(18, lambda: stranger.db.c.find_one())
        with login("root", "secret", authSource="db") as elsewhere:
            refused(18, lambda: elsewhere.db.c.find_one())
        with login("reader", "pass=word,1") as reader:
            assert reader.db.c.find_one() == {"_id": 1}
            with reader.db.watch(max_await_time_ms=1) as stream:
                assert stream.try_next() is None
            e = refused(13, lambda: reader.db.c.insert_one({}))
            assert e.details["errmsg"].startswith("not authorized on db to execute command { insert: \"c\"")
            refused(13, lambda: reader.other.c.find_one())
            refused(13, lambda: reader.watch())
            assert reader.list_database_names() == ["db"]
        with login("nobody", "x") as nobody:
            e = refused(13, lambda: nobody.db.watch())
            assert e.details["errmsg"].startswith(
                "not authorized on db to execute command { aggregate: 1, pipeline: [ { $changeStream: {} } ]")
        with login("all", "x") as everything:
            with everything.watch(max_await_time_ms=1) as stream:
                assert stream.try_next() is None
            refused(13, lambda: everything.db.c.insert_one({}))


@test
def tls():
    with tempfile.TemporaryDirectory() as folder:
        key, certificate, both = (os.path.join(folder, n) for n in ("key", "cert", "both.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
                       check=True, capture_output=True)
        with open(both, "w", encoding="ascii") as out:
            for part in (certificate, key):
                with open(part, encoding="ascii") as source:
                    out.write(source.read())
        with program("--tls-cert-key", both, "--user", "u:p") as uri:
            with connected(uri, tls=True, tlsCAFile=certificate, username="u", password="p") as client:
                client.db.c.insert_many([{"_id": i, "x": "y" * 1000} for i in range(2000)])
                assert len(list(client.db.c.find())) == 2000
                with client.db.watch(max_await_time_ms=1000) as stream:
                    client.db.c.insert_one({"_id": "last"})
                    assert take(stream, 1)[0]["documentKey"] == {"_id": "last"}
            plain = pymongo.MongoClient(uri, serverSelectionTimeoutMS=500)
            try:
                plain.admin.command("ping")
                raise AssertionError("answered without TLS")
            except errors.ServerSelectionTimeoutError:
                pass
            finally:
                plain.close()


@test
def watch_three_scopes():
    with fresh() as client:
        with client.watch(max_await_time_ms=200) as cluster, client.a.watch(max_await_time_ms=200) as database, \
                client.a.c.watch(max_await_time_ms=200) as collection:
            client.a.c.insert_one({"_id": 1})
            client.a.d.insert_one({"_id": 2})
            client.b.c.insert_one({"_id": 3})
            assert [e["documentKey"]["_id"] for e in take(cluster, 3)] == [1, 2, 3]
            assert [e["documentKey"]["_id"] for e in take(database, 2)] == [1, 2]
            assert [e["documentKey"]["_id"] for e in take(collection, 1)] == [1]
            assert database.try_next() is None and collection.try_next() is None
            # What moved the cluster moves the position of the quiet stream.
            assert collection.resume_token["_data"] > cluster.resume_token["_data"][:18]
            clients_time = client.admin.command("ping")["operationTime"]
            assert collection.resume_token["_data"].startswith(
                "82%08X%08X" % (clients_time.time, clients_time.inc))


@test
def watch_options():
    with fresh() as client:
        c = client.db.c
        wanted = [{"$match": {"$or": [{"operationType": "invalidate"}, {"$and": [
            {"ns.coll": {"$regex": "^C$", "$options": "i"}}, {"operationType": {"$nin": ["delete"]}}]}]}}]
        with client.db.watch(wanted, full_document="updateLookup", max_await_time_ms=200, batch_size=1) as stream:
            c.insert_one({"_id": 1, "a": 1})
            client.db.d.insert_one({"_id": 1})
            c.update_one({"_id": 1}, {"$set": {"a": 2}})
            c.update_one({"_id": 1}, {"$set": {"a": 3}})
            c.delete_one({"_id": 1})
            c.insert_one({"_id": 2})
            events = take(stream, 4)
        assert [e["operationType"] for e in events] == ["insert", "update", "update", "insert"]
        assert events[1]["fullDocument"] is None and events[1]["updateDescription"]["updatedFields"] == {"a": 2}
        assert list(events[1]) == ["_id", "operationType", "clusterTime", "fullDocument", "ns", "documentKey",
                                   "updateDescription"]
        # A filter on the looked-up document sees it.
        with client.db.watch([{"$match": {"fullDocument.a": 7}}], full_document="updateLookup",
                             max_await_time_ms=200) as stream:
            c.update_one({"_id": 2}, {"$set": {"a": 7}})
            assert take(stream, 1)[0]["fullDocument"] == {"_id": 2, "a": 7}
        refused(40324, lambda: c.watch([{"$foo": 1}]))
        refused(20, lambda: c.watch([{"$limit": 1}]))
        refused(40415, lambda: raw_stream(client, "db", "c", stage={"showExpandedEvents": True}))
        refused(73, lambda: raw_stream(client, "admin", 1))
        refused(72, lambda: raw_stream(client, "db", 1, stage={"allChangesForCluster": True}))
        refused(40602, lambda: client.db.command(
            {"aggregate": "c", "pipeline": [{"$match": {}}, {"$changeStream": {}}], "cursor": {}}))


@test
def resume():
    with fresh() as client:
        c = client.db.c
        with c.watch(max_await_time_ms=200) as stream:
            start = client.admin.command("ping")["operationTime"]
            c.insert_many([{"_id": i} for i in range(10)])
            events = take(stream, 10)
        middle = events[4]
        rest = [5, 6, 7, 8, 9]
        for option in ({"resume_after": middle["_id"]}, {"start_after": middle["_id"]},
                       {"start_at_operation_time": events[5]["clusterTime"]}):
            with c.watch(max_await_time_ms=200, **option) as stream:
                assert [e["documentKey"]["_id"] for e in take(stream, 5)] == rest, option
        with c.watch(start_at_operation_time=start, max_await_time_ms=200) as stream:
            assert len(take(stream, 10)) == 10
        # A token whose event the pipeline drops, and one that no event has.
        with c.watch([{"$match": {"documentKey._id": 9}}], resume_after=middle["_id"], max_await_time_ms=200) as stream:
            assert take(stream, 1)[0]["documentKey"]["_id"] == 9
        unknown = {"_data": middle["_id"]["_data"].replace("461E5F696400", "461E5F696500")}
        e = refused(280, lambda: client.db.command(
            {"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": unknown}}], "cursor": {}}))
        assert e.has_error_label("NonResumableChangeStreamError")
        refused(9, lambda: raw_stream(client, "db", "c", stage={"resumeAfter": {"_data": "xyz"}}))
        refused(15, lambda: raw_stream(client, "db", "c", stage={"resumeAfter": {"_data": "82"}}))
        refused(40674, lambda: raw_stream(client, "db", "c", stage={
            "resumeAfter": middle["_id"], "startAtOperationTime": start}))


@test
def history_lost():
    with fresh("--oplog-limit", "20") as client:
        c = client.db.c
        with c.watch(max_await_time_ms=200) as stream:
            c.insert_one({"_id": 0})
            token = take(stream, 1)[0]["_id"]
            time = client.admin.command("ping")["operationTime"]
        c.insert_many([{} for _ in range(50)])
        def opened(stage):
            return client.db.command({"aggregate": "c", "pipeline": [{"$changeStream": stage}], "cursor": {}})
        for stage in ({"startAtOperationTime": time}, {"resumeAfter": {"_data": token["_data"][:18] + "2B0229296E04"}}):
            e = refused(286, lambda stage=stage: opened(stage))
            assert e.details["errorLabels"] == ["NonResumableChangeStreamError"]
            # With batchSize 0 the first getMore tells.
            cursor = raw_stream(client, "db", "c", stage=stage)
            more = {"getMore": cursor["id"], "collection": "c", "maxTimeMS": 1}
            with client.start_session() as session:
                cursor = raw_stream(client, "db", "c", stage=stage, session=session)
                more["getMore"] = cursor["id"]
                refused(286, lambda more=more, session=session: client.db.command(more, session=session))
        refused(280, lambda: opened({"resumeAfter": token}))


@test
def invalidate():
    with fresh() as client:
        for end in ("drop", "rename"):
            client.db.c.insert_one({"_id": 1})
            with client.db.c.watch(max_await_time_ms=200) as stream:
                if end == "drop":
                    client.db.c.drop()
                else:
                    client.db.c.rename("c2")
                first, second = take(stream, 2)
                assert first["operationType"] == end and second["operationType"] == "invalidate"
                assert not stream.alive
            refused(260, lambda: client.db.c.watch(resume_after=second["_id"]))
            with client.db.c.watch(start_after=second["_id"], max_await_time_ms=200) as stream:
                client.db.c.insert_one({"_id": 2})
                assert take(stream, 1)[0]["operationType"] == "insert"
            # Behind the event itself the invalidate is still to come.
            with client.db.c.watch(resume_after=first["_id"], max_await_time_ms=200) as stream:
                assert take(stream, 1)[0]["_id"] == second["_id"]
            client.db.drop_collection("c")
        client.db.c.insert_one({"_id": 1})
        with client.db.watch(max_await_time_ms=200) as stream, client.watch(max_await_time_ms=200) as cluster:
            client.drop_database("db")
            events = take(stream, len(["drop c", "drop c2", "dropDatabase", "invalidate"]))
            assert [e["operationType"] for e in events] == ["drop", "drop", "dropDatabase", "invalidate"]
            assert not stream.alive
            assert [e["operationType"] for e in take(cluster, 3)] == ["drop", "drop", "dropDatabase"]
            assert cluster.alive


@test
def waiting_get_more_wakes():
    class times(monitoring.CommandListener):
        def __init__(self):
            self.longest = 0

        def started(self, event):
            pass

        def succeeded(self, event):
            if event.command_name == "getMore":
                self.longest = max(self.longest, event.duration_micros)

        def failed(self, event):
            pass

    listener = times()
    with program() as uri, connected(uri, event_listeners=[listener]) as reader, connected(uri) as writer:
        with reader.db.c.watch(max_await_time_ms=20000) as stream:
            thread = threading.Thread(target=lambda: writer.db.c.insert_one({"_id": 1}))
            thread.start()
            assert stream.next()["documentKey"] == {"_id": 1}
            thread.join()
        assert listener.longest < 10_000_000


@test
def standalone():
    with fresh("--standalone") as client:
        hello = client.admin.command("isMaster")
        assert "setName" not in hello and "$clusterTime" not in hello and "operationTime" not in hello
        plain = client.get_database("db").get_collection("c")
        e = refused(40573, lambda: plain.watch())
        assert e.details["errmsg"] == "The $changeStream stage is only supported on replica sets"
        assert list(e.details) == ["ok", "errmsg", "code", "codeName"]
        assert list(client.local["oplog.rs"].find()) == []


@test
def oplog_reads():
    with fresh() as client:
        client.db.c.insert_one({"_id": 1})
        oplog = client.local["oplog.rs"]
        first = oplog.find_one(sort=[("$natural", 1)])
        last = oplog.find_one(sort=[("$natural", -1)])
        assert first["o"] == {"msg": "initiating set"} and first["ts"] < last["ts"]
        assert last["op"] == "i" and last["ns"] == "db.c" and last["o"] == {"_id": 1}


@test
def command_line_mistakes():
    for options in (["--version", "3.6.0"], ["--user", "nameonly"], ["--user", "a:b:king@db"], ["--members", "0"],
                    ["--members", "3", "--standalone"]):
        result = subprocess.run([BINARY[0], *options], capture_output=True, text=True, timeout=10, check=False)
        assert result.returncode == 2 and result.stderr, (options, result)


if __name__ == "__main__":
    run_tests(__doc__)
