# SPDX-License-Identifier: Apache-2.0
"""A webhook receiver that fails at random, and what must hold of the requests that it got."""
import dataclasses
import http.server
import json
import os
import random
import socket
import struct
import threading
import time
import urllib.parse

# Share of the requests -> what happens to them. All others are taken at once.
FAILURES = [
    (0.020, "500"),
    (0.010, "503"),
    (0.003, "429"),  # with Retry-After: 1
    (0.020, "reset"),  # RST instead of an answer
    (0.010, "close"),  # the end of the connection instead of an answer
    (0.010, "close behind"),  # taken, and then the end of the connection without a word about it
    (0.010, "slow"),  # taken after up to 0.3 s
]


@dataclasses.dataclass
class Request:
    run: int  # of the service; it stands in the URL
    id: str
    topic: str
    key: str
    body: dict  # None: a tombstone
    answer: str = "none"
    accepted: bool = False  # a 2xx was written, or was about to be when the sender died
    lost: bool = False  # the answer could not be written


class FailingReceiver:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.requests = []  # in the order of their arrival
        self.accepted_ids = set()
        self.calm = False  # from now on everything is taken
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                url = urllib.parse.urlsplit(self.path)
                request = Request(run=int(urllib.parse.parse_qs(url.query)["run"][0]),
                                  id=self.headers["webhook-id"], topic=self.headers["x-mongocdc-topic"],
                                  key=urllib.parse.unquote(self.headers["x-mongocdc-key"], errors="strict"),
                                  body=json.loads(body))
                self.answer(request, receiver.take(request))

            def answer(self, request, what):
                if what == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    os.close(self.connection.detach())
                if what in ("reset", "close"):
                    self.close_connection = True
                    return
                if what == "slow":
                    time.sleep(receiver.delay())
                try:
                    self.send_response(int(what) if what.isdigit() else 200)
                    if what == "429":
                        self.send_header("retry-after", "1")
                    self.send_header("content-length", "0")
                    self.end_headers()
                    self.wfile.flush()
                except OSError:
                    request.lost = True  # the sender was killed
                if what == "close behind":
                    self.close_connection = True

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass  # a connection whose other end was killed

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def shutdown_request(self, request):
                try:
                    super().shutdown_request(request)
                except OSError:
                    pass  # closed by a reset already

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, run):
        return f"http://127.0.0.1:{self.port}/hook?run={run}"

    def delay(self):
        with self.lock:
            return self.random.uniform(0.02, 0.3)

    def take(self, request):
        """Notes the request and says what happens to it."""
        with self.lock:
            what = "ok"
            if not self.calm:
                at = self.random.random()
                for share, failure in FAILURES:
                    if at < share:
                        what = failure
                        break
                    at -= share
            request.answer = what
            request.accepted = what in ("ok", "slow", "close behind")
            self.requests.append(request)
            if request.accepted:
                self.accepted_ids.add(request.id)
            return what

    def accepted(self):
        """How many different records it has taken."""
        with self.lock:
            return len(self.accepted_ids)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def records_of(requests, fail):
    """The requests whose records were taken, each record once, in their order. Checks ids and attempts."""
    identity_of, accepted, out = {}, set(), []
    last_of_run, accepted_in_run = {}, {}
    previous = None  # the request before, whatever run it was of
    # A killed run's last request may have been read late, behind the first one of the next run.
    for request in sorted(requests, key=lambda r: r.run):
        before = last_of_run.get(request.run)
        mine = accepted_in_run.setdefault(request.run, set())
        if before is not None and not before.accepted and before.id != request.id:
            fail(f"run {request.run}: {request.id} was sent although {before.id} was answered by {before.answer}")
        if request.id in mine:
            fail(f"run {request.run}: {request.id} was sent again although it had been accepted")
        last_of_run[request.run] = request

        identity = identity_of_request(request, previous, identity_of)
        if identity is None:
            fail(f"run {request.run}: tombstone {request.id} of {request.key} does not follow its delete")
        if identity_of.setdefault(request.id, identity) != identity:
            fail(f"one id for two records: {request.id}: {identity_of[request.id]} and {identity}")
        previous = request
        if request.accepted:
            mine.add(request.id)
            if request.id not in accepted:
                accepted.add(request.id)
                out.append(request)
    by_identity = {}
    for id_, identity in identity_of.items():
        if by_identity.setdefault(identity, id_) != id_:
            fail(f"two ids for one record: {identity}: {id_} and {by_identity[identity]}")
    return out


def identity_of_request(request, previous, identity_of):
    """What makes the record of a request the one that it is. None: a tombstone that follows no delete."""
    if request.body is not None:
        source = request.body["source"]
        return (request.topic, request.key, request.body["op"], source["ts_ms"], source["ord"])
    if request.id in identity_of:
        return identity_of[request.id]
    if previous is None or previous.body is None or previous.body["op"] != "d" or previous.key != request.key:
        return None
    return ("tombstone", *identity_of[previous.id])
