#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds mongocdc and shows it at work: changes written to a replica set arrive in a file and at a webhook.
#   bash core/quickstart.sh                          on an embedded stand-in replica set
#   MONGODB_URI=mongodb://… bash core/quickstart.sh  on your own; writes to database mongocdc_quickstart and drops it
# Works without a terminal (then it ends by itself); Ctrl-C ends everything it started.
set -u -o pipefail
. "$(dirname "$0")/setup.sh"

database=mongocdc_quickstart
folder=$project/build/quickstart
standin_pid='' service_pid='' tail_pid='' receiver_pid='' wrote=no

# shellcheck disable=SC2329
clean_up() {
    trap - EXIT INT TERM
    for pid in "$tail_pid" "$service_pid" "$receiver_pid" "$standin_pid"; do
        [ -n "$pid" ] && kill "$pid" 2>/dev/null
    done
    [ -n "$service_pid" ] && wait "$service_pid" 2>/dev/null
    if [ "$wrote" = yes ] && [ -n "${MONGODB_URI:-}" ]; then
        say "dropping database $database"
        "$venv/bin/python" -c 'import os, sys, pymongo
pymongo.MongoClient(os.environ["MONGODB_URI"]).drop_database(sys.argv[1])' "$database"
    fi
}
trap clean_up EXIT
trap 'say; exit 130' INT TERM

install_packages
install_venv
say "building (the first time takes some minutes)"
build release mongocdc mongocdc-standin | tail -1 || die "the build failed; run: cmake --build --preset release"

rm -rf "$folder"
mkdir -p "$folder"
if [ -n "${MONGODB_URI:-}" ]; then
    say "This writes sample changes to database $database of the server in MONGODB_URI, and drops that database at the end."
    uri=$MONGODB_URI
else
    "$project/build/release/tests/mongocdc-standin" >"$folder/standin.log" 2>&1 &
    standin_pid=$!
    for _ in $(seq 100); do
        uri=$(sed -n 's/.*\(mongodb:[^ ]*\).*/\1/p' "$folder/standin.log" 2>/dev/null | head -1)
        [ -n "$uri" ] && break
        sleep 0.1
    done
    [ -n "$uri" ] || die "the stand-in did not start; see $folder/standin.log"
    say "started a stand-in replica set: $uri"
fi

# A receiver for the webhook sink: answers 200 and writes a line a request.
"$venv/bin/python" -u - >"$folder/webhook.log" <<'PY' &
import http.server

class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        print("POST", self.headers["x-mongocdc-topic"], "op", self.headers["x-mongocdc-op"], "key",
              self.headers["x-mongocdc-key"], self.headers["webhook-id"], len(body), "bytes")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print("listening on port", server.server_address[1])
server.serve_forever()
PY
receiver_pid=$!
for _ in $(seq 100); do
    receiver_port=$(sed -n 's/^listening on port //p' "$folder/webhook.log")
    [ -n "$receiver_port" ] && break
    sleep 0.1
done
[ -n "$receiver_port" ] || die "the webhook receiver did not start"

# The connection string may hold a password, so it goes through the environment, not into the file.
cat >"$folder/config.yaml" <<YAML
state: {path: mongocdc.db}
connectors:
  quickstart:
    source: mongodb
    mongodb.connection.string: \${env:QUICKSTART_URI}
    topic.prefix: quickstart
    snapshot.mode: no_data
    capture.mode: change_streams_update_full
    database.include.list: $database
    schemas.enable: false
    sinks:
      out: {type: file, path: events.jsonl}
      hook: {type: webhook, url: "http://127.0.0.1:$receiver_port/"}
YAML
QUICKSTART_URI=$uri "$project/build/release/mongocdc" run "$folder/config.yaml" 2>"$folder/mongocdc.log" &
service_pid=$!
say "running: mongocdc run $folder/config.yaml"

# Changes are captured from the moment the stream is open, so wait until a position is stored.
started=no
for _ in $(seq 300); do
    kill -0 "$service_pid" 2>/dev/null || break
    if "$venv/bin/python" - "$folder/mongocdc.db" <<'PY' 2>/dev/null; then started=yes; break; fi
import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
sys.exit(db.execute("select count(*) from positions").fetchone()[0] == 0)
PY
    sleep 0.1
done
[ $started = yes ] || { cat "$folder/mongocdc.log"; service_pid=''; die "the service did not start"; }

wrote=yes
QUICKSTART_URI=$uri "$venv/bin/python" - "$database" <<'PY' || die "could not write sample changes"
import os, sys, pymongo
customers = pymongo.MongoClient(os.environ["QUICKSTART_URI"])[sys.argv[1]].customers
customers.insert_one({"_id": 1004, "first_name": "Anne", "last_name": "Kretchmar", "email": "annek@noanswer.org"})
customers.update_one({"_id": 1004}, {"$set": {"first_name": "Anne Marie"}, "$unset": {"email": ""}})
customers.replace_one({"_id": 1004}, {"_id": 1004, "name": "Anne Marie Kretchmar", "tags": ["a", "b"]})
customers.delete_one({"_id": 1004})
PY
say "wrote an insert, an update, a replace and a delete to $database.customers; the events in $folder/events.jsonl:"
say
for _ in $(seq 100); do
    [ "$(wc -l <"$folder/events.jsonl" 2>/dev/null || echo 0)" -ge 5 ] && break
    sleep 0.1
done
"$venv/bin/python" - "$folder/events.jsonl" <<'PY' || die "no events arrived; see $folder/mongocdc.log"
import json, sys
lines = open(sys.argv[1]).read().splitlines()
kinds = {"c": "create", "u": "update", "d": "delete"}
for line in lines:
    record = json.loads(line)
    value = record["value"]
    if value is None:
        print(f'tombstone  {record["topic"]}  key {record["key"]["id"]}')
        continue
    print(f'{kinds[value["op"]]:9}  {record["topic"]}  key {record["key"]["id"]}')
    if value["after"]:
        print(f'           after: {value["after"]}')
    if value["updateDescription"]:
        print(f'           updateDescription: {json.dumps(value["updateDescription"])}')
sys.exit(0 if len(lines) >= 5 else 1)
PY
for _ in $(seq 100); do
    [ "$(grep -c ^POST "$folder/webhook.log")" -ge 5 ] && break
    sleep 0.1
done
say
say "the same at the webhook, http://127.0.0.1:$receiver_port/:"
grep ^POST "$folder/webhook.log" || die "nothing arrived at the webhook; see $folder/mongocdc.log"
say
say "What to try next"
if [ -t 0 ] && [ -t 1 ]; then
    # Never the user's own connection string: it may hold a password.
    shown_uri=$uri
    [ -n "${MONGODB_URI:-}" ] && shown_uri=YOUR_URI
    say "  more changes      $venv/bin/python -c 'import pymongo; pymongo.MongoClient(\"$shown_uri\")[\"$database\"].customers.insert_one({\"hello\": \"world\"})'"
fi
say "  all options       build/release/mongocdc options
  your own server   MONGODB_URI=mongodb://… bash core/quickstart.sh
  the tests         bash tests/run.sh"
if [ -t 0 ] && [ -t 1 ]; then
    say "The service keeps running; new events follow. Ctrl-C ends it."
    tail -n 0 -f "$folder/events.jsonl" &
    tail_pid=$!
    wait "$service_pid"
    service_pid=''
fi
