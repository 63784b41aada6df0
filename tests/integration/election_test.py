# SPDX-License-Identifier: Apache-2.0
"""The service as a process on a set of three members whose primary changes.

    election_test.py --mongocdc BIN --standin BIN

Prints a line a case and ends with "N passed, N failed"; exit code 1 when one failed.
"""
import collections
import json
import os
import signal
import subprocess
import threading
import time

import pymongo
from pymongo import errors

from processes import Standin, options, run_cases, wait_for

KEYS, ROUNDS, WRITERS = 200, 100, 4
ROUND_SECONDS = 0.12  # at least; or all would be written before the first election


class Service:
    """mongocdc with one connector into one file."""

    def __init__(self, folder, uri, **more):
        self.out = os.path.join(folder, "out.jsonl")
        self.log_path = os.path.join(folder, "log")
        config = os.path.join(folder, "config.json")
        connector = {"source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": "t",
                     "snapshot.mode": "no_data", "schemas.enable": False,
                     "sinks": {"out": {"type": "file", "path": "out.jsonl"}}, **more}
        with open(config, "w") as f:
            json.dump({"state": {"path": "state.db"}, "connectors": {"a": connector}}, f)
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([options.mongocdc, "run", config], stdout=log, stderr=log)

    def log(self):
        with open(self.log_path) as f:
            return f.read()

    def records(self):
        """Of whole lines: (id, n)."""
        if not os.path.exists(self.out):
            return []
        with open(self.out) as f:
            rows = [json.loads(line) for line in f if line.endswith("\n")]
        return [(int(row["key"]["id"]), json.loads(row["value"]["after"])["n"]) for row in rows]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, self.log()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def members(uri):
    """What each member has served, and its state."""
    host = uri.split("//")[1].split(",")[0]
    with pymongo.MongoClient(host, directConnection=True) as client:
        return client.admin.command("standInMembers", 1)["members"]


def sent(member, command):
    served = member["served"].get(command, {"asPrimary": 0, "asSecondary": 0})
    return served["asPrimary"], served["asSecondary"]


class Writers:
    """Replaces every key's document with n = 0, 1, 2, …; tries again until the server has it."""

    def __init__(self, uri):
        self.uri, self.again, self.failed = uri, 0, []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.write, args=(i,)) for i in range(WRITERS)]
        for t in self.threads:
            t.start()

    def write(self, number):
        try:
            with pymongo.MongoClient(self.uri) as client:
                begin = time.monotonic()
                for n in range(ROUNDS):
                    time.sleep(max(0, begin + n * ROUND_SECONDS - time.monotonic()))
                    for key in range(number, KEYS, WRITERS):
                        self.one(client.shop.orders, key, n)
        except Exception as e:  # told by `join`
            self.failed.append(e)

    def one(self, orders, key, n):
        while True:
            try:
                orders.replace_one({"_id": key}, {"n": n}, upsert=True)
                return
            except (errors.AutoReconnect, errors.NotPrimaryError):
                with self.lock:
                    self.again += 1

    def alive(self):
        return any(t.is_alive() for t in self.threads)

    def join(self):
        for t in self.threads:
            t.join()
        assert not self.failed, self.failed


def fault_99_step_downs_every_two_seconds_lose_nothing(folder):
    with Standin("--members", "3", "--election-delay-ms", "200") as standin:
        with Service(folder, standin.uri) as service:
            wait_for(lambda: "starts from now at" in service.log(), "the start")
            step_downs = 0
            writers = Writers(standin.uri)
            over = threading.Event()
            with pymongo.MongoClient(standin.uri) as client:
                while writers.alive():
                    over.wait(2)  # the interval that the case is about
                    try:
                        client.admin.command("replSetStepDown", 1, force=True)
                        step_downs += 1
                    except errors.AutoReconnect:
                        pass  # no primary at this moment
            writers.join()
            wait_for(lambda: len(set(service.records())) == KEYS * ROUNDS, "every change", 60)
            service.stop()
            log = service.log()
            records = service.records()

        by_key = collections.defaultdict(list)
        for key, n in records:
            by_key[key].append(n)
        assert sorted(by_key) == list(range(KEYS))
        for key, values in by_key.items():
            assert values == sorted(values), f"out of order for {key}"
            assert sorted(set(values)) == list(range(ROUNDS)), f"changes of {key} are missing"
        # Leaving a member repeats nothing; a write that a client sends again may be two changes.
        repeats = len(records) - KEYS * ROUNDS
        assert repeats <= writers.again, (repeats, writers.again)

        state = members(standin.uri)
        reads = [sum(sent(m, c)[1] for m in state) for c in ("getMore", "aggregate")]
        # One may be sent before the news of the step-down has come.
        assert all(number <= 2 * step_downs for number in reads), (reads, step_downs)
        assert sum(m["cursors"] for m in state) == 0, state
        moves = log.count("is no longer the primary")
        print(f"        {step_downs} step-downs, {moves} moves, {writers.again} writes sent again, "
              f"{repeats} repeats")
        assert step_downs >= 5 and step_downs / 2 <= moves <= step_downs, log
        assert "failed" not in log, log


def a_host_that_is_stayed_on(folder):
    with Standin("--members", "3") as standin:
        second = standin.uri.split("//")[1].split("/")[0].split(",")[1]
        alone = {"mongodb.members.auto.discover": False}
        with Service(folder, f"mongodb://{second}/", **alone) as service:
            wait_for(lambda: "starts from now at" in service.log(), "the start")
            with pymongo.MongoClient(standin.uri) as client:
                for n in range(3):
                    client.shop.orders.replace_one({"_id": 1}, {"n": n}, upsert=True)
                    wait_for(lambda: len(service.records()) == n + 1, "the change")
                    client.admin.command("replSetStepDown", 1, force=True)
            service.stop()
            assert service.records() == [(1, 0), (1, 1), (1, 2)]
            assert f"from {second} " in service.log() and "no longer" not in service.log(), service.log()
        for m in members(standin.uri):
            assert (sum(sent(m, "aggregate")) > 0) == (m["host"] == second), m


run_cases([fault_99_step_downs_every_two_seconds_lose_nothing, a_host_that_is_stayed_on])
