# SPDX-License-Identifier: Apache-2.0
"""A second reader of the same changes: the Debezium engine and mongocdc read one stand-in replica set at the same time,
with the same options, and what they wrote is compared record for record.

    debezium_test.py --mongocdc BIN --standin BIN --engine FOLDER [--keep FOLDER]

FOLDER is what tests/debezium/install.sh makes. Without it the test fails; it is never skipped. What is held to be the
same, and what is excepted, is said in tests/debezium/comparison.py.

Prints a line a case and ends with "N passed, N failed"; exit code 1 when one failed.
"""
import argparse
import json
import os
import re
import sys
import tempfile
import time
import traceback

import pymongo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "debezium"))
from changes import DATABASE, MARKERS, Writer, write_changes  # noqa: E402
from comparison import MUTATIONS, Failure, by_topic, compare_topic, count_identical, operations  # noqa: E402
from reader_processes import SCENARIOS, Processes  # noqa: E402


class Report:
    passed = failed = 0

    def case(self, name, wrong):
        if wrong:
            self.failed += 1
            print(f"FAILED  {name}", *wrong, sep="\n        ")
        else:
            self.passed += 1
            print(f"ok      {name}")


def read_changes(options, folder):
    """Runs everything; (records by reader and prefix, expected operations by collection)."""
    processes = Processes(options, folder)
    try:
        processes.start_all()
        outputs = processes.outputs()
        client = pymongo.MongoClient(processes.uri)

        def wait(condition, what, seconds):
            until = time.monotonic() + seconds
            while True:
                for output in outputs.values():
                    output.poll()
                if condition():
                    return
                processes.check_alive()
                if time.monotonic() > until:
                    have = {f"{r} {p}": (len(o.records), len(o.markers)) for (r, p), o in outputs.items()}
                    raise Failure(f"waited {seconds} s for {what}; records and markers: {have}\n" +
                                  processes.log("debezium") + processes.log("mongocdc"))
                time.sleep(0.02)

        def mark(number):
            client[DATABASE][MARKERS].insert_one({"_id": number})

        # A reader is ready when a change that was written after its start arrives.
        number = 0

        def all_ready():
            nonlocal number
            number += 1
            mark(number)
            return all(o.markers for o in outputs.values())

        wait(all_ready, "both readers to be ready", 120)

        def barrier():
            nonlocal number
            number += 1
            mark(number)
            wait(lambda: all(number in o.markers for o in outputs.values()), f"marker {number}", 120)

        barrier()
        writer = Writer(processes.uri, barrier)
        write_changes(writer, processes.readers)
        processes.stop()
        for output in outputs.values():
            output.poll()
        return {where: o.records for where, o in outputs.items()}, writer.expected
    finally:
        processes.kill()


def compare_readers(prefix, records, expected, report):
    """Whether every topic agrees."""
    failed_before = report.failed
    theirs, ours = (by_topic(records[reader, prefix]) for reader in ("debezium", "mongocdc"))
    for topic in sorted(theirs.keys() | ours.keys() | expected.keys()):
        wrong = compare_topic(theirs.get(topic, []), ours.get(topic, []))
        for reader, topics in ("Debezium", theirs), ("mongocdc", ours):
            got, made = operations(topics.get(topic, [])), expected.get(topic, [])
            if got != made:
                at = next((i for i, (g, m) in enumerate(zip(got, made)) if g != m), min(len(got), len(made)))
                wrong.append(f"{reader}: {len(got)} records for {len(made)} that were made; first difference at {at}: "
                             f"{got[at:at + 3]} for {made[at:at + 3]}")
        report.case(f"{topic}, {len(ours.get(topic, []))} records", wrong)
    if report.failed > failed_before:
        return False
    counts = count_identical(records["debezium", prefix], records["mongocdc", prefix])
    print("        byte for byte:", ", ".join(f"{what} {same} of {all_}" for what, (same, all_) in counts.items()))
    return True


def compare(records, written, report):
    agree = True
    for prefix in SCENARIOS:
        topics = {f"{prefix}.{DATABASE}." + re.sub(r"[^A-Za-z0-9._-]", "_", collection): made
                  for collection, made in written.items()}
        agree = compare_readers(prefix, records, topics, report) and agree
    if not agree:
        return

    topic = f"delta.{DATABASE}.updates"
    theirs, ours = by_topic(records["debezium", "delta"])[topic], by_topic(records["mongocdc", "delta"])[topic]
    for name, change in MUTATIONS.items():
        changed = change(ours)
        report.case(f"noticed: {name}", [] if changed != ours and compare_topic(theirs, changed) else ["it was not"])

    gone = [json.loads(r.value)["payload"] for r in records["mongocdc", "full"] if r.value and '\\"gone\\"' in r.key]
    without_document = [p["op"] for p in gone if p["after"] is None]
    report.case("one update was read when its document was gone",
                [] if without_document == ["u", "d"] else [str(without_document)])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--mongocdc", required=True)
    options.add_argument("--standin", required=True)
    options.add_argument("--engine", required=True)
    options.add_argument("--keep", help="new folder for configurations, logs and records")
    options = options.parse_args()
    report = Report()
    begin = time.monotonic()
    try:
        if not os.path.exists(os.path.join(options.engine, "stamp")):
            raise Failure(f"no Debezium engine in {options.engine}; run: bash tests/debezium/install.sh")
        if options.keep:
            os.makedirs(options.keep)  # what an earlier run left would count as read
        with tempfile.TemporaryDirectory(prefix="mongocdc-second-reader-") as temporary:
            records, written = read_changes(options, options.keep or temporary)
        print(f"        {sum(map(len, records.values()))} records read in {time.monotonic() - begin:.0f} s")
        compare(records, written, report)
    except Failure as e:
        report.case("both readers read everything", [str(e)])
    except Exception:
        report.case("both readers read everything", [traceback.format_exc()])
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)


main()
