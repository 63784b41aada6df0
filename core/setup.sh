# SPDX-License-Identifier: Apache-2.0
# Sourced by core/quickstart.sh and tests/run.sh: functions that bring a fresh Debian or Ubuntu machine to the
# point where the project builds. Each does nothing, quickly, when its work is done already.
# shellcheck shell=bash

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$project/build/venv
# A precompiled header is only shared through ccache when told that its time stamps do not matter.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
# Another clone of the project finds what this one compiled.
export CCACHE_BASEDIR=$project CCACHE_NOHASHDIR=true

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "cannot install packages: neither root nor sudo. Needed: $*"
    fi
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

# The release's own Boost when it is new enough, else the first packaged version from 1.81 on.
boost_packages() {
    local version
    version=$(apt-cache show libboost-dev 2>/dev/null | sed -n 's/^Version: \([0-9]*\.[0-9]*\).*/\1/p' | head -1)
    if [ -n "$version" ] && dpkg --compare-versions "$version" ge 1.81; then
        echo "libboost-dev libboost-context-dev"
        return
    fi
    version=$(apt-cache pkgnames libboost1. | sed -n 's/^libboost\(1\.[0-9]*\)-dev$/\1/p' | sort -V |
        while read -r v; do dpkg --compare-versions "$v" ge 1.81 && echo "$v"; done | head -1)
    [ -n "$version" ] || version=1.81 # lists not fetched yet: Debian 12's
    echo "libboost$version-dev libboost-context$version-dev"
}

# install_packages [more packages]: compiler, build tools and libraries, with apt.
install_packages() {
    command -v apt-get >/dev/null || die "this script installs packages with apt; on other systems see the README's list"
    local wanted missing=() p
    apt-cache show libboost-dev >/dev/null 2>&1 || as_root apt-get -qq update
    wanted="g++ cmake ninja-build ccache pkg-config python3 python3-venv
        libmongoc-dev libbson-dev libssl-dev libsimdjson-dev libspdlog-dev libfmt-dev
        libsqlite3-dev libyaml-cpp-dev libcli11-dev libpcre2-dev catch2 $(boost_packages) $*"
    for p in $wanted; do installed "$p" || missing+=("$p"); done
    [ ${#missing[@]} = 0 ] && return
    say "installing: ${missing[*]}"
    as_root apt-get -qq update
    DEBIAN_FRONTEND=noninteractive as_root apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        die "apt-get install failed; run it by hand: apt-get install ${missing[*]}"
}

# A virtual environment with pymongo, which writes the changes that examples and tests capture.
install_venv() {
    "$venv/bin/python" -c 'import pymongo' 2>/dev/null && return
    say "installing: pymongo (PyPI, into build/venv)"
    rm -rf "$venv"
    python3 -m venv "$venv" || die "python3 -m venv failed"
    "$venv/bin/pip" -q --disable-pip-version-check install 'pymongo>=4.10,<5' || die "pip install pymongo failed"
}

# build PRESET TARGET...: configures when needed, then builds.
build() {
    local preset=$1
    shift
    cd "$project" || exit 1
    [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >"build-$preset.log" 2>&1 || {
        cat "build-$preset.log"
        die "cmake failed"
    }
    rm -f "build-$preset.log"
    cmake --build --preset "$preset" --target "$@"
}
