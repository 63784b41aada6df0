# SPDX-License-Identifier: Apache-2.0
"""Reads a backlog of inserts from a stand-in replica set with the service, beside a plain drain of the same stream.

A stored position from before the inserts is made first; every round then starts the service from it, waits until
the stored position has reached the last event, and stops it. CPU time is the service's own, its start and stop
included. Prints medians of the rounds, and with --profile where the CPU samples were.
"""
import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

# name, sink's options
WAYS = [
    ("discard", {"type": "discard", "schemas.enable": False}),
    ("file, schemas off", {"type": "file", "path": "events.jsonl", "schemas.enable": False}),
    ("file, schemas on", {"type": "file", "path": "events.jsonl", "schemas.enable": True}),
]
DOCUMENT_BYTES = 617  # makes change documents of about 0.9 KB

parser = argparse.ArgumentParser()
parser.add_argument("--binaries", required=True, help="the build folder")
parser.add_argument("--events", type=int, default=1_000_000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--profile", action="store_true", help="one more run of each with perf, and what it shows")
options = parser.parse_args()
binary = {
    name: os.path.join(os.path.abspath(options.binaries), path)
    for name, path in (("mongocdc", "mongocdc"), ("server", "bench/cdc_bench_server"),
                       ("drain", "bench/cdc_bench_drain"))
}


class Server:
    def __init__(self):
        self.process = subprocess.Popen([binary["server"], str(options.events), str(DOCUMENT_BYTES)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.uri = self.process.stdout.readline().strip()

    def load(self):
        self.process.stdin.write("load\n")
        self.process.stdin.flush()
        word, *self.before = self.process.stdout.readline().split()
        assert word == "loaded"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)


def stored_position(state):
    """The token, as text that sorts as the server's history does, or nothing."""
    try:
        db = sqlite3.connect(f"file:{state}?mode=ro", uri=True)
        try:
            row = db.execute("SELECT position FROM positions").fetchone()
        finally:
            db.close()
    except sqlite3.OperationalError:
        return ""
    return json.loads(row[0])["data"] if row else ""


def wait_for(process, condition, what, seconds=300):
    until = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            sys.exit(f"the service ended while waiting for {what}; its log:\n{process.log()}")
        if time.monotonic() > until:
            sys.exit(f"waited {seconds} s for {what}")
        time.sleep(0.02)


class Way:
    """The service with one sink, in a folder of its own."""

    def __init__(self, name, sink, folder, uri):
        self.name, self.sink, self.folder = name, sink, os.path.join(folder, name.replace(", ", "-").replace(" ", "-"))
        os.mkdir(self.folder)
        self.out = os.path.join(self.folder, "events.jsonl")
        self.config = os.path.join(self.folder, "config.json")
        self.state = os.path.join(self.folder, "state.db")
        self.begin = os.path.join(self.folder, "begin.db")
        with open(self.config, "w") as f:
            json.dump({
                "state": {"path": "state.db"},
                "connectors": {"bench": {
                    "source": "mongodb", "mongodb.connection.string": uri, "topic.prefix": "bench",
                    "snapshot.mode": "no_data", "capture.mode": "change_streams",
                    "offset.flush.interval.ms": 200, "sinks": {"out": sink}}},
            }, f)
        self.runs = []

    def start(self, *under):
        path = os.path.join(self.folder, "log")
        with open(path, "w") as log:
            process = subprocess.Popen([*under, binary["mongocdc"], "run", self.config], stdout=log, stderr=log,
                                       cwd=self.folder)
        process.log = lambda: open(path).read()
        return process

    def make_begin(self):
        process = self.start()
        wait_for(process, lambda: stored_position(self.state), "a first position")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        shutil.move(self.state, self.begin)

    def clean(self):
        for name in os.listdir(self.folder):
            if name.startswith("state.db") or name == "events.jsonl":
                os.remove(os.path.join(self.folder, name))

    def begin_anew(self):
        self.clean()
        shutil.copy(self.begin, self.state)

    def wait_for_last(self, process, last):
        wait_for(process, lambda: stored_position(self.state) >= last, "the last event")

    def size_of_output(self):
        if self.sink["type"] != "file":
            return 0
        lines = int(subprocess.run(["wc", "-l", self.out], capture_output=True, text=True).stdout.split()[0])
        assert lines == options.events, f"{lines} lines of {options.events} events"
        return os.path.getsize(self.out)

    def run(self, last):
        self.begin_anew()
        begin = time.monotonic()
        process = self.start()
        self.wait_for_last(process, last)
        wall = time.monotonic() - begin
        with open(f"/proc/{process.pid}/status") as f:
            peak = int(re.search(r"VmHWM:\s*(\d+)", f.read())[1])
        process.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, process.log()
        size = self.size_of_output()
        self.clean()
        return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "system": used.ru_stime, "peak_kb": peak,
                "bytes": size}

    def record(self, last, data):
        """Under perf, which ends with the service."""
        self.begin_anew()
        process = self.start("perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf,4096", "-o",
                             data)
        self.wait_for_last(process, last)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
            os.kill(int(f.read().split()[0]), signal.SIGTERM)
        process.wait(120)
        self.clean()


def drain(server):
    out = subprocess.run([binary["drain"], server.uri, *server.before, str(options.events)], capture_output=True,
                         text=True, check=True)
    return json.loads(out.stdout)


def spread(values):
    return (max(values) - min(values)) / statistics.median(values) * 100


def row(name, runs):
    cpu = [r["cpu"] / options.events * 1e6 for r in runs]
    rate = [options.events / r["wall"] for r in runs]
    peak = f'{statistics.median(r["peak_kb"] for r in runs) / 1024:9.0f}' if "peak_kb" in runs[0] else " " * 9
    system = (f'{statistics.median(r["system"] / r["cpu"] for r in runs) * 100:9.0f}%' if "system" in runs[0]
              else " " * 10)
    print(f"  {name:20s} {statistics.median(cpu):10.2f} {spread(cpu):7.1f}% {system} {statistics.median(rate):11.0f} "
          f"{spread(rate):7.1f}% {peak}", flush=True)


# Where a sample belongs: the first frame, from the innermost out, that one of these matches; a library only when there
# is none, since encoding calls libbson too. The driver runs on a stack of its own, so its frames never have the
# pipeline's above them.
PARTS = [
    ("decode", r"cdc::mongodb::(streaming|cursor|filters)|cdc::mongodb::filters"),
    ("encode", r"cdc::(event|bson|json)::"),
    ("sink", r"cdc::(discard|file|webhook|sink)::"),
    ("queue", r"cdc::pipeline::|cdc::offset::|cdc::runtime::blocking_pool|sqlite3"),
    ("read (driver, sockets)", r"cdc::mongodb::client"),
    ("runtime (asio, timers)", r"cdc::runtime|boost::asio|epoll"),
]


def part_of(frames):
    for symbol, _ in frames:
        for part, pattern in PARTS:
            if re.search(pattern, symbol):
                return part
    for _, library in frames:
        if "libmongoc" in library or "libbson" in library:
            return "read (driver, sockets)"
        if "sqlite" in library:
            return "queue"
    return "other"


def profile(way, last):
    data = os.path.join(way.folder, "perf.data")
    way.record(last, data)
    text = subprocess.run(["perf", "script", "-i", data, "--no-inline", "-F", "ip,sym,dso"], capture_output=True,
                          text=True).stdout
    os.remove(data)
    parts, leaves, total = {}, {}, 0
    for sample in text.split("\n\n"):
        frames = []
        for line in sample.splitlines():
            match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if match:
                frames.append((match[1], match[2]))
        if not frames:
            continue
        total += 1
        part = part_of(frames)
        parts[part] = parts.get(part, 0) + 1
        name = frames[0][0].replace("(anonymous namespace)::", "")
        leaf = (re.sub(r"[(<].*", "", name) or name, part)
        leaves[leaf] = leaves.get(leaf, 0) + 1
    if not total:
        print(f"\n{way.name}: perf recorded nothing")
        return
    print(f"\nCPU samples, {way.name} ({total}):")
    for part, count in sorted(parts.items(), key=lambda p: -p[1]):
        print(f"  {count / total * 100:5.1f}%  {part}")
    own = sum(parts.get(p, 0) for p in ("decode", "encode", "queue", "sink"))
    print(f"  decode, encode, queue and sink together: {own / total * 100:.1f}%")
    print("  innermost functions:")
    for (leaf, part), count in sorted(leaves.items(), key=lambda p: -p[1])[:16]:
        print(f"  {count / total * 100:5.1f}%  {leaf}  [{part}]")


def main():
    with tempfile.TemporaryDirectory(prefix="bench-", dir=os.path.abspath(options.binaries)) as folder, Server() as server:
        ways = [Way(name, sink, folder, server.uri) for name, sink in WAYS]
        for way in ways:
            way.make_begin()
        server.load()
        drains = []
        for _ in range(options.rounds):
            drains.append(drain(server))
            for way in ways:
                way.runs.append(way.run(drains[-1]["last"]))
        first = drains[0]
        print(f'\n{options.events} inserts, change documents of {first["bytes"] / first["events"]:.0f} bytes; '
              f'medians of {options.rounds} interleaved rounds')
        print(f'  {"":20s} {"us CPU/event":>12s} {"spread":>6s} {"in kernel":>10s} {"events/s":>11s} {"spread":>8s} '
              f'{"peak MB":>9s}')
        row("plain drain", drains)
        for way in ways:
            row(way.name, way.runs)
        if options.profile:
            for way in ways:
                profile(way, first["last"])


main()
