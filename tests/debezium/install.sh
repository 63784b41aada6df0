#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Brings the second reader to build/debezium: the Debezium engine's jars (pom.xml; Maven Central) and the program in
# src/ that runs it. Installs Java and Maven with apt when they are missing. Does nothing, quickly, when all is there.
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../core/setup.sh"

here=$project/tests/debezium
built=$project/build/debezium
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

# The stamp names what it was made from, so a changed pom.xml or program is never missed.
stamp=$(cat "$here/pom.xml" "$here"/src/*.java "${BASH_SOURCE[0]}" | sha256sum)
command -v java >/dev/null && [ "$(cat "$built/stamp" 2>/dev/null)" = "$stamp" ] && exit 0

missing=()
command -v javac >/dev/null || missing+=(default-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
if [ ${#missing[@]} != 0 ]; then
    say "installing: ${missing[*]}"
    as_root apt-get -qq update
    DEBIAN_FRONTEND=noninteractive as_root apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        die "apt-get install failed; run it by hand: apt-get install ${missing[*]}"
fi

say "installing: the Debezium engine (Maven Central, into build/debezium)"
rm -rf "$built"
mkdir -p "$built/classes"
resolve() {
    mvn -B -q -Dstyle.color=never -f "$here/pom.xml" "$plugin:copy-dependencies" -DincludeScope=runtime \
        -DoutputDirectory="$built/libs"
}
# A second attempt, because one lost download among seventy fails the first.
resolve || resolve ||
    die "the Debezium engine could not be fetched: is Maven Central reachable? The second reader cannot run without it"
javac -d "$built/classes" -cp "$built/libs/*" "$here"/src/*.java ||
    die "the second reader does not compile"
printf '%s\n' "$stamp" >"$built/stamp"
