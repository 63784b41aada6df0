# SPDX-License-Identifier: Apache-2.0
"""Drives the faults and the elections of mongocdc-standin with pymongo.

Usage: standin_faults_pymongo.py PATH_OF_MONGOCDC_STANDIN
Ends with "N passed, N failed"; the exit code is 0 when none failed.
"""
import time

import pymongo
from pymongo import errors

from standin_client import connected, fresh, program, raw_stream, refused, take, test, run_tests


def fail(client, mode, **data):
    client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)


def end_of_connection(call):
    """The connection must end without an answer."""
    try:
        call()
    except errors.AutoReconnect:
        return
    raise AssertionError("answered")


def members_of(client):
    return client.admin.command("standInMembers", 1)["members"]


def wait_until(condition, what, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds} s for {what}"
        time.sleep(0.01)


@test
def fail_point():
    with program() as uri, connected(uri, retryReads=False, retryWrites=False, appname="tested") as client:
        fail(client, {"times": 2}, failCommands=["find", "count"], errorCode=50)
        e = refused(50, lambda: client.db.c.find_one())
        assert e.details["errmsg"] == "Failing command due to 'failCommand' failpoint"
        assert e.details["codeName"] == "MaxTimeMSExpired" and not e.has_error_label("RetryableWriteError")
        refused(50, lambda: client.db.command("count", "c"))
        assert client.db.c.find_one() is None
        fail(client, {"skip": 1}, failCommands=["ping"], errorCode=8, errorLabels=["a", "b"])
        assert client.admin.command("ping")["ok"] == 1
        for _ in range(3):
            e = refused(8, lambda: client.admin.command("ping"))
            assert e.details["errorLabels"] == ["a", "b"]
        # Always, of this client only, and a cut.
        fail(client, "alwaysOn", failCommands=["ping"], closeConnection=True, appName="tested")
        end_of_connection(lambda: client.admin.command("ping"))
        with connected(uri, appname="other") as other:
            other.admin.command("ping")
        fail(client, "alwaysOn", failCommands=["ping"], blockConnection=True, blockTimeMS=50, errorCode=50)
        before = time.monotonic()
        refused(50, lambda: client.admin.command("ping"))
        assert time.monotonic() - before >= 0.05
        fail(client, "off")
        client.admin.command("ping")
        refused(2, lambda: client.admin.command("configureFailPoint", "other", mode="alwaysOn"))
        refused(2, lambda: fail(client, "sometimes"))
        refused(2, lambda: fail(client, {"times": -1}))
        refused(13, lambda: client.db.command("configureFailPoint", "failCommand", mode="off"))


@test
def fail_point_and_retries():
    """The labels let pymongo do what it does with a real server."""
    with fresh() as client:
        fail(client, {"times": 1}, failCommands=["insert"], errorCode=11602)
        client.db.c.insert_one({"_id": 1})
        fail(client, {"times": 1}, failCommands=["insert"], closeConnection=True)
        client.db.c.insert_one({"_id": 2})
        with client.db.c.watch(max_await_time_ms=200) as stream:
            stream.try_next()
            fail(client, {"times": 1}, failCommands=["getMore"], errorCode=43)
            client.db.c.insert_one({"_id": 3})
            assert take(stream, 1)[0]["documentKey"] == {"_id": 3}
            client.admin.command("standInKillCursors", 1)
            client.db.c.insert_one({"_id": 4})
            assert take(stream, 1)[0]["documentKey"] == {"_id": 4}
            fail(client, {"times": 1}, failCommands=["getMore"], errorCode=280)
            e = refused(280, stream.try_next)
            assert e.details["errorLabels"] == ["NonResumableChangeStreamError"]


@test
def refused_authentication():
    with program("--user", "u:p") as uri, connected(uri, username="u", password="p") as client:
        fail(client, "alwaysOn", failCommands=["saslStart", "saslContinue", "isMaster"], errorCode=18,
             appName="late")
        with connected(uri, username="u", password="p", appname="late") as late:
            try:
                late.admin.command("ping")
                raise AssertionError("authenticated")
            except errors.PyMongoError:
                pass
        fail(client, "off")
        with connected(uri, username="u", password="p", appname="late") as late:
            late.admin.command("ping")


@test
def trimmed_oplog():
    with fresh() as client:
        with client.db.c.watch(max_await_time_ms=200) as stream:
            client.db.c.insert_one({"_id": 0})
            token = take(stream, 1)[0]["_id"]
            stream.try_next()
            client.db.c.insert_many([{} for _ in range(20)])
            time_now = client.admin.command("standInTrimOplog", 5)["oldest"]
            assert time_now == client.local["oplog.rs"].find_one(sort=[("$natural", 1)])["ts"]
            assert len(list(client.local["oplog.rs"].find())) == 5
            refused(136, stream.try_next)
        refused(280, lambda: client.db.c.watch(resume_after=token))


@test
def restart_with_data():
    with fresh() as client:
        client.db.c.insert_one({"_id": 1})
        before = client.admin.command("isMaster")["topologyVersion"]["processId"]
        with client.db.c.watch(max_await_time_ms=200) as stream:
            stream.try_next()
            for orderly in (False, True):
                end_of_connection(lambda orderly=orderly: client.admin.command("standInRestart", 100, orderly=orderly))
                client.db.c.insert_one({"orderly": orderly})
                assert take(stream, 1)[0]["fullDocument"]["orderly"] == orderly
        assert client.db.c.count_documents({}) == 3
        assert client.admin.command("isMaster")["topologyVersion"]["processId"] != before
        end_of_connection(lambda: client.admin.command("standInDropConnections", 1))
        client.db.c.insert_one({})


@test
def election():
    with program("--members", "3") as uri, connected(uri, heartbeatFrequencyMS=500) as client:
        client.db.c.insert_one({"_id": 0})
        wait_until(lambda: len(client.nodes) == 3 and client.primary and len(client.secondaries) == 2, "three members")
        first = client.primary
        with client.db.c.watch(max_await_time_ms=200) as stream:
            stream.try_next()
            for n in range(1, 6):
                client.admin.command("replSetStepDown", 1, force=n > 1)
                client.db.c.insert_one({"_id": n})
                assert take(stream, 1)[0]["documentKey"] == {"_id": n}
                assert client.admin.command("isMaster")["ismaster"]
        assert client.primary != first or client.admin.command("replSetGetStatus")["term"] >= 5
        status = client.admin.command("replSetGetStatus")
        assert status["term"] == 6 and sorted(m["state"] for m in status["members"]) == [1, 2, 2]
        with connected(f"mongodb://{client.primary[0]}:{client.primary[1]}/?directConnection=true") as direct:
            assert direct.admin.command("isMaster")["ismaster"]
            secondary = next(iter(client.secondaries))
        with connected(f"mongodb://{secondary[0]}:{secondary[1]}/?directConnection=true") as direct:
            e = refused(10107, lambda: direct.db.command("insert", "c", documents=[{}]))
            assert e.details["errmsg"] == "not master" and list(e.details)[0] == "topologyVersion"
            assert direct.db.c.count_documents({}) == 6
            direct.admin.command("replSetStepUp", 1)
            assert direct.admin.command("isMaster")["ismaster"]
            refused(2, lambda: direct.admin.command("replSetStepDown", -1))


@test
def members_come_and_go():
    with program("--members", "3", "--set-name", "x") as uri, connected(uri, heartbeatFrequencyMS=500) as client:
        client.db.c.insert_one({"_id": 0})
        counts = members_of(client)
        assert [m["state"] for m in counts] == ["primary", "secondary", "secondary"]
        assert counts[0]["served"]["insert"] == {"asPrimary": 1, "asSecondary": 0}
        assert "insert" not in counts[1]["served"]
        end_of_connection(lambda: client.admin.command("shutdown", 1))
        client.db.c.insert_one({"_id": 1})
        counts = members_of(client)
        assert [m["state"] for m in counts] == ["down", "primary", "secondary"]
        assert counts[0]["connections"] == 0 and counts[1]["served"]["insert"]["asPrimary"] == 1
        client.admin.command("standInStop", 2)
        # Without a majority there is no primary, but what is left can be read.
        wait_until(lambda: client.primary is None, "the end of the primary")
        left = client.get_database("db", read_preference=pymongo.ReadPreference.SECONDARY_PREFERRED)
        assert left.c.count_documents({}) == 2
        with left.c.watch(max_await_time_ms=10) as stream:
            assert stream.try_next() is None
        with connected("mongodb://%s:%d/?directConnection=true" % next(iter(client.secondaries))) as direct:
            direct.admin.command("standInStart", 0)
            refused(2, lambda: direct.admin.command("standInStart", 7))
        client.db.c.insert_one({"_id": 2})
        assert client.db.c.count_documents({}) == 3


@test
def killed_sessions():
    with fresh() as client:
        with client.start_session() as one, client.start_session() as two:
            cursors = [(raw_stream(client, "db", "c", session=s)["id"], s) for s in (one, two)]
            client.admin.command("killSessions", [one.session_id])
            def more(cursor, session):
                return client.db.command({"getMore": cursor, "collection": "c", "maxTimeMS": 1}, session=session)
            refused(43, lambda: more(*cursors[0]))
            more(*cursors[1])
            client.admin.command("killAllSessions", [])
            refused(43, lambda: more(*cursors[1]))
    with program("--user", "a:p", "--user", "b:p") as uri, connected(uri, username="a", password="p") as a, \
            connected(uri, username="b", password="p") as b:
        with a.db.watch(max_await_time_ms=10) as of_a, b.db.watch(max_await_time_ms=10) as of_b:
            of_a.try_next(), of_b.try_next()
            assert members_of(b)[0]["cursors"] == 2
            a.admin.command("killAllSessions", [{"user": "b", "db": "admin"}])
            assert members_of(a)[0]["cursors"] == 1
            a.admin.command("killAllSessions", [{"user": "a", "db": "other"}])
            assert members_of(a)[0]["cursors"] == 1
            refused(40414, lambda: a.admin.command("killAllSessions", [{"user": "a"}]))


if __name__ == "__main__":
    run_tests(__doc__)
