# SPDX-License-Identifier: Apache-2.0
"""What the service holds in memory while its sinks are blocked, with documents of 10 MB.

    memory_test.py --mongocdc BIN --standin BIN --preload cdc_blocked_writes.so

500 documents wait in the server. The file cannot be written and the webhook's receiver does not answer: the process
must not have taken more than max.queue.size.in.bytes and 160 MiB at any time, neither then nor while both go on
again. All documents arrive, in their order. Exit code 1 otherwise.
"""
import argparse
import glob
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import time

import pymongo

MIB = 1024 * 1024
QUEUE = 64 * MIB
ALLOWANCE = 160 * MIB
DOCUMENTS = 500
PADDING = 10_000_000
ROTATE = 150 * MIB  # of the file, so that its parts can be looked at and removed meanwhile

parser = argparse.ArgumentParser()
parser.add_argument("--mongocdc", required=True)
parser.add_argument("--standin", required=True)
parser.add_argument("--preload", required=True)
parser.add_argument("--documents", type=int, default=DOCUMENTS)
options = parser.parse_args()

ID = re.compile(rb'\\"_id\\": ?(\d+)')


def id_of(record):
    """The number of the document in a record, whose padding must be whole."""
    assert record.count(b"p" * PADDING) == 1, "the document has not arrived whole"
    return int(ID.search(record).group(1))


class Receiver:
    """Takes requests and does not answer before `go`."""

    def __init__(self):
        self.ids = []
        self.begun = 0
        self.go = threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.begun += 1
                receiver.go.wait()
                receiver.ids.append(id_of(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class File:
    """The rotated parts of the file sink's file; each is read once and removed."""

    def __init__(self, path):
        self.path, self.ids, self.failure = path, [], None

    def take(self, whole_end=False):
        parts = sorted(glob.glob(self.path.replace(".jsonl", "-*.jsonl")))
        for part in parts + ([self.path] if whole_end else []):
            with open(part, "rb") as f:
                self.ids += [id_of(line) for line in f]
            os.remove(part)


def status(process, name):
    """A number of bytes from /proc/PID/status."""
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(name + ":"))


def wait_for(condition, what, process, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"the service ended with {process.returncode}"
        assert time.monotonic() < until, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def run(folder, standin_uri):
    receiver = Receiver()
    out = File(os.path.join(folder, "events.jsonl"))
    block = os.path.join(folder, "block")
    log_path = os.path.join(folder, "log")
    connector = {
        "source": "mongodb", "mongodb.connection.string": standin_uri, "topic.prefix": "t", "snapshot.mode": "no_data",
        "capture.mode": "change_streams", "max.queue.size.in.bytes": QUEUE, "shutdown.timeout.ms": 1000,
        "sinks": {
            "file": {"type": "file", "path": "events.jsonl", "fsync": "never", "rotate.bytes": ROTATE},
            "hook": {"type": "webhook", "url": receiver.url, "write.timeout.ms": 300000, "answer.timeout.ms": 300000},
        },
    }
    config = os.path.join(folder, "config.json")
    with open(config, "w") as f:
        json.dump({"state": {"path": "state.db"}, "connectors": {"a": connector}}, f)
    open(block, "w").close()
    environment = dict(os.environ, LD_PRELOAD=os.path.abspath(options.preload), MONGOCDC_BLOCK_WHILE=block,
                       MONGOCDC_BLOCK_PATH=out.path.replace(".jsonl", ""))
    with open(log_path, "w") as log:
        process = subprocess.Popen([options.mongocdc, "run", config], stdout=log, stderr=log, env=environment)
    try:
        wait_for(lambda: "reads changes" in open(log_path).read(), "the stream", process)
        before = status(process, "VmHWM")
        pymongo.MongoClient(standin_uri).db.c.insert_many([{"_id": i} for i in range(options.documents)])
        wait_for(lambda: receiver.begun == 1, "the first request", process)

        # Blocked for good once nothing moves any more.
        last = [0, time.monotonic()]

        def settled():
            now = status(process, "VmRSS")
            if now != last[0]:
                last[:] = now, time.monotonic()
            return time.monotonic() - last[1] > 3

        wait_for(settled, "the queue to be full", process)
        assert receiver.begun == 1 and not out.ids and os.path.getsize(out.path) == 0, "the sinks were not blocked"
        blocked = status(process, "VmHWM")
        held = status(process, "VmRSS") - before
        print(f"{before / MIB:.0f} MiB at first, {held / MIB:.0f} MiB more while blocked, peak {blocked / MIB:.0f} MiB",
              flush=True)
        assert held > QUEUE / 2, "so little that the queue cannot have been full"

        begin = time.monotonic()
        os.remove(block)
        receiver.go.set()

        def all_have_come():
            out.take()
            return len(receiver.ids) == options.documents

        wait_for(all_have_come, "all documents at the receiver", process, 280)
        took = time.monotonic() - begin
        peak = status(process, "VmHWM")
        process.terminate()
        assert process.wait(30) == 0
        out.take(whole_end=True)
        print(f"{options.documents} documents of {PADDING / 1e6:.0f} MB to both sinks in {took:.0f} s; "
              f"peak {peak / MIB:.0f} MiB", flush=True)
        assert receiver.ids == list(range(options.documents)), receiver.ids[:20]
        assert out.ids == list(range(options.documents)), out.ids[:20]
        assert peak <= QUEUE + ALLOWANCE, f"{peak / MIB:.0f} MiB are more than {(QUEUE + ALLOWANCE) / MIB:.0f} MiB"
    except BaseException:
        print(open(log_path).read())
        raise
    finally:
        receiver.go.set()
        if process.poll() is None:
            process.kill()
            process.wait()


def main():
    standin = subprocess.Popen([options.standin, "--pad-events", str(PADDING)], stdout=subprocess.PIPE, text=True)
    try:
        uri = "mongodb://" + standin.stdout.readline().split("mongodb://", 1)[1].split()[0]
        with tempfile.TemporaryDirectory(prefix="mongocdc-memory-") as folder:
            run(folder, uri)
    finally:
        standin.terminate()
        standin.wait()


main()
