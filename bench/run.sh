#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds (Release) and runs the benchmarks. What they measure: bench/README.md.
#   bash bench/run.sh                     all
#   bash bench/run.sh micro               only making records
#   bash bench/run.sh end_to_end OPTIONS  only the service as a whole; OPTIONS: --events N, --rounds N, --profile
set -eu -o pipefail
. "$(dirname "$0")/../core/setup.sh"

case ${1-all} in
all | micro | end_to_end) which=${1-all} ;;
-h | --help)
    sed -n '3,6s/^# \{0,1\}//p' "$0"
    exit
    ;;
*) die "unknown benchmark $1; see --help" ;;
esac
[ $# = 0 ] || shift

machine() {
    say "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, $(uname -sr)"
    say "$(g++ --version | head -1); load $(cut -d' ' -f1-3 /proc/loadavg)"
    say "libmongoc $(dpkg-query -W -f='${Version}' libmongoc-dev); commit $(git -C "$project" rev-parse --short HEAD 2>/dev/null || echo unknown)"
}

mkdir -p "$project/build"
install_packages
build release cdc_bench_micro cdc_bench_server cdc_bench_drain mongocdc
machine
if [ "$which" != end_to_end ]; then
    "$project/build/release/bench/cdc_bench_micro"
fi
if [ "$which" != micro ]; then
    if [ $# = 0 ] && command -v perf >/dev/null; then
        set -- --profile
    fi
    python3 "$project/bench/end_to_end/end_to_end.py" --binaries "$project/build/release" "$@"
fi
