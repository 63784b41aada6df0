# SPDX-License-Identifier: Apache-2.0
"""The stand-in, the Debezium engine and mongocdc as processes, and the files that the readers write."""
import json
import os
import subprocess

from changes import COLLECTIONS, DATABASE, MARKERS
from comparison import Failure, Record

# Options by topic.prefix.
SCENARIOS = {
    "delta": {"capture.mode": "change_streams"},
    "full": {"capture.mode": "change_streams_update_full"},
    "rules": {"capture.mode": "change_streams_update_full",
              "field.exclude.list": f"*.updates.d.x,*.updates.o.v,{DATABASE}.updates.f,*.every.array.x,*.kinds.nothing",
              "field.renames": f"*.updates.n:number,*.updates.d.y.z:depth,{DATABASE}.updates.o.k:key,*.every.int32:i"},
}


class Output:
    """The records of one reader with one topic.prefix, as its file grows."""

    def __init__(self, path):
        self.path, self.offset, self.records, self.markers = path, 0, [], set()

    def poll(self):
        try:
            with open(self.path, "rb") as f:
                f.seek(self.offset)
                new = f.read()
        except FileNotFoundError:
            return
        new = new[:new.rfind(b"\n") + 1]
        self.offset += len(new)
        for line in new.split(b"\n")[:-1]:
            record = Record.of(line.decode("utf-8"))
            if record.topic.endswith("." + MARKERS):
                self.markers.add(json.loads(json.loads(record.key)["payload"]["id"]))
            else:
                self.records.append(record)


class Processes:
    """The stand-in and the two readers; kill ends whatever was started."""

    def __init__(self, options, folder):
        self.options, self.folder, self.all = options, folder, {}

    def start_all(self):
        self.standin = self.start("standin", [self.options.standin], stdout=subprocess.PIPE)
        line = self.standin.stdout.readline().decode()
        if "mongodb://" not in line:
            raise Failure(f"the stand-in did not start: {line!r}")
        self.uri = "mongodb://" + line.split("mongodb://", 1)[1].split()[0]
        self.start_debezium(self.options.engine)
        self.start_mongocdc(self.options.mongocdc)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, name, command, **more):
        with open(self.path(name + ".log"), "wb") as log:
            self.all[name] = subprocess.Popen(command, **{"stdout": log, "stderr": log, **more})
        return self.all[name]

    def common(self, prefix, options):
        return {"mongodb.connection.string": self.uri, "topic.prefix": prefix, "snapshot.mode": "no_data",
                **options, "tombstones.on.delete": "true",
                "collection.include.list": ",".join(f"{DATABASE}.{c}" for c in COLLECTIONS)}

    def start_debezium(self, engine):
        arguments = []
        for prefix, options in SCENARIOS.items():
            properties = {
                **self.common(prefix, options), "name": prefix, "filters.match.mode": "literal",
                "connector.class": "io.debezium.connector.mongodb.MongoDbConnector",
                "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
                "offset.flush.interval.ms": "1000", "converter.schemas.enable": "true",
                "poll.interval.ms": "10", "errors.max.retries": "0",  # an error ends the test rather than repeats
            }
            with open(self.path(prefix + ".properties"), "w", encoding="utf-8") as f:
                f.writelines(f"{name}={value}\n" for name, value in properties.items())
            arguments += [f.name, self.path(f"debezium-{prefix}.jsonl")]
        classes = os.path.join(engine, "classes") + ":" + os.path.join(engine, "libs", "*")
        self.start("debezium", ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classes, "SecondReader",
                                *arguments], stdin=subprocess.PIPE)

    def start_mongocdc(self, binary):
        config = {"state": {"path": "memory"}, "connectors": {
            prefix: {**self.common(prefix, options), "source": "mongodb", "schemas.enable": True,
                     "sinks": {"out": {"type": "file", "path": f"mongocdc-{prefix}.jsonl", "fsync": "never"}}}
            for prefix, options in SCENARIOS.items()}}
        with open(self.path("config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.start("mongocdc", [binary, "run", f.name])

    def outputs(self):
        return {(reader, prefix): Output(self.path(f"{reader}-{prefix}.jsonl"))
                for reader in ("debezium", "mongocdc") for prefix in SCENARIOS}

    def log(self, name):
        with open(self.path(name + ".log"), encoding="utf-8", errors="replace") as f:
            return f"--- log of {name}:\n" + f.read()[-6000:]

    def check_alive(self):
        for name, process in self.all.items():
            if process.poll() is not None:
                raise Failure(f"{name} ended with {process.returncode}\n{self.log(name)}")

    def readers(self, number):
        for name in ("debezium", "mongocdc"):
            self.all[name].send_signal(number)

    def stop(self):
        """Ends the readers as a user would; both must end with 0."""
        self.all["debezium"].stdin.close()
        self.all["mongocdc"].terminate()
        for name in ("debezium", "mongocdc"):
            if self.all[name].wait(30) != 0:
                raise Failure(f"{name} ended with {self.all[name].returncode} when stopped\n{self.log(name)}")

    def kill(self):
        for process in self.all.values():
            if process.poll() is None:
                process.kill()
            process.wait()
