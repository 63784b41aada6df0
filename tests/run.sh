#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is needed, builds everything and runs every test.
#   bash tests/run.sh                   Release in full; unit and driver tests with ASan and UBSan, runtime and driver tests with TSan
#   bash tests/run.sh --all-sanitizers  also every test with ASan and UBSan, and with TSan
#   bash tests/run.sh --tidy            also clang-tidy over all sources (slow)
# Ends with "N passed, N failed, N skipped"; exits 1 when a test failed.
set -u -o pipefail
. "$(dirname "$0")/../core/setup.sh"

all_sanitizers=no tidy=no
for option; do
    case $option in
    --all-sanitizers) all_sanitizers=yes ;;
    --tidy) tidy=yes ;;
    -h | --help)
        sed -n '3,8s/^# \{0,1\}//p' "$0"
        exit
        ;;
    *) die "unknown option $option; see --help" ;;
    esac
done

passed=0 failed=0 skipped=0
phases=()
phase_begin=$(date +%s)
# phase NAME: closes the phase that ran up to here.
phase() {
    local now
    now=$(date +%s)
    phases+=("$(printf '%6.1f min  %s' "$(echo "($now - $phase_begin) / 60" | python3 -c 'print(eval(input()))')" "$1")")
    phase_begin=$now
}

# run_tests PRESET CTEST-ARGUMENTS...: runs ctest and adds up its results.
run_tests() {
    local preset=$1 report
    shift
    report=$project/build/$preset/results.xml
    rm -f "$report"
    (cd "$project/build/$preset" && ctest --output-on-failure --output-junit "$report" --no-tests=error "$@")
    # The counts come from the report, and a missing report is a failure.
    local counts
    counts=$(python3 - "$report" <<'PY'
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
tests, bad, skipped = (int(suite.get(k, "0")) for k in ("tests", "failures", "skipped"))
disabled = int(suite.get("disabled", "0"))
print(tests - bad - skipped - disabled, bad, skipped + disabled)
PY
    ) || counts="0 1 0"
    local p f s
    read -r p f s <<<"$counts"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

finish() {
    say
    say "phases:"
    printf '%s\n' "${phases[@]}"
    say
    say "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}
# A phase that could not even run counts as one failure, so that the closing line never looks clean.
give_up() {
    failed=$((failed + 1))
    phase "$1 (failed)"
    finish
}

mkdir -p "$project/build"
install_packages clang-format-19 || give_up install
install_venv || give_up install
bash "$project/tests/debezium/install.sh" || give_up "install the Debezium engine"
phase install

(cd "$project" && git ls-files -z '*.hpp' '*.cpp' | xargs -0 clang-format-19 --dry-run -Werror) ||
    { say "format: run clang-format-19 -i on the files above"; failed=$((failed + 1)); }
phase "format check"

build release all header_check || give_up "build release"
phase "build release"
run_tests release
phase "test release"

# sanitized PRESET LABELS: builds and runs the tests with these labels, or all of them where that was asked for.
sanitized() {
    local preset=$1 labels=$2 targets=() label
    for label in ${labels//|/ }; do targets+=("cdc_${label}_tests"); done
    [ $all_sanitizers = yes ] && labels=. targets=(all)
    build "$preset" "${targets[@]}" || give_up "build $preset"
    phase "build $preset"
    run_tests "$preset" -L "$labels"
    phase "test $preset, $labels"
}
sanitized asan 'unit|runtime|driver'
sanitized tsan 'runtime|driver'

if [ $tidy = yes ]; then
    install_packages clang-tidy-19
    (cd "$project" && git ls-files 'core/*.cpp' 'sources/*.cpp' 'sinks/*.cpp' |
        xargs -P2 -n4 clang-tidy-19 -p build/release --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-gch) ||
        failed=$((failed + 1))
    phase "clang-tidy"
fi
finish
