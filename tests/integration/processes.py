# SPDX-License-Identifier: Apache-2.0
"""What tests of the program as a process share: arguments, the stand-in, waiting, and the loop over cases."""
import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback

_parser = argparse.ArgumentParser()
_parser.add_argument("--mongocdc", required=True)
_parser.add_argument("--standin", required=True)
options = _parser.parse_args()
options.mongocdc, options.standin = (os.path.abspath(path) for path in (options.mongocdc, options.standin))


class Standin:
    """A stand-in replica set of its own."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([options.standin, *arguments], stdout=subprocess.PIPE, text=True)
        self.uri = "mongodb://" + self.process.stdout.readline().split("mongodb://", 1)[1].split()[0]

    def uri_of(self, user, password):
        """For a user; the password percent-encoded where it must be."""
        return self.uri.replace("mongodb://", f"mongodb://{user}:{password}@")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def wait_for(condition, what, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def run_cases(cases):
    """Each with a folder of its own. Prints a line a case and "N passed, N failed"; does not return."""
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="mongocdc-test-") as folder:
            try:
                case(folder)
                print(f"ok      {case.__name__}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED  {case.__name__}", flush=True)
                traceback.print_exc()
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
