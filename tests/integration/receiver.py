# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks."""
import http.server
import threading


class Receiver:
    """Keeps the requests; answers with `status`, or not at all while `holding`."""

    def __init__(self, port=0):
        self.requests = []
        self.status = 200
        self.hold_after = None  # so many requests are answered, the next one is held
        self.go = threading.Event()
        self.go.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.requests.append((dict(self.headers.items()), body))
                if receiver.hold_after is not None and len(receiver.requests) > receiver.hold_after:
                    receiver.go.clear()
                receiver.go.wait(20)
                try:
                    self.send_response(receiver.status)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:
                    pass  # the sender was killed meanwhile

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?token=hunter22"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ids(self):
        return [headers["webhook-id"] for headers, _ in self.requests]

    def close(self):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
