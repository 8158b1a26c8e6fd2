# One function a suite; each builds what it needs and records its results. Sourced.

suite_names=(unit simulation interoperability web conformance hardware packages fuzz)

# Whether the suites asked for need the tests and the programs, and neither was built before.
needs_both_builds() {
    [[ ! -d .build-tests/debug && ! -d .build-release/release ]] &&
        [[ " ${suites[*]} " =~ \ (unit|simulation|fuzz)\  ]] &&
        [[ " ${suites[*]} " =~ \ (interoperability|web|conformance|hardware|packages)\  ]]
}

run_format_check() {
    say "checking the format"
    local folders=(Package.swift) folder
    for folder in Sources Firmware Controller Tests; do
        if [[ -d $folder ]]; then folders+=("$folder"); fi
    done
    if swift format lint --strict --configuration .swift-format --recursive "${folders[@]}"; then
        record format 1 0 0
    else
        complain "the format differs" "swift format -i --configuration .swift-format --recursive ${folders[*]}"
        record format 0 1 0
    fi
    if Scripts/drawings --check; then
        record drawings 1 0 0
    else
        complain "the drawings of Hardware.md or its documents differ from their texts" "Scripts/drawings --help"
        record drawings 0 1 0
    fi
}

# The modules whose tests wait for sockets, disks and clocks: beside tests that only compute they would wait for these as well.
in_real_time='^(AddressService|Daemon|DaemonClient|Dashboard|Effects|LinuxNetwork|PlugClient|PlugService|PlugTransport)Tests\.'

run_unit() {
    local fuzz=()
    # The fuzz suite runs those tests longer; once is enough.
    if [[ " ${suites[*]} " == *" fuzz "* ]]; then fuzz=(--skip '[Ff]uzz'); fi
    run_swift_tests unit --skip '^SimulationTests\.' --skip "$in_real_time" "${fuzz[@]}"
    run_swift_tests unit-in-real-time --filter "$in_real_time" "${fuzz[@]}"
}

run_simulation() {
    run_swift_tests simulation --filter '^SimulationTests\.'
}

# The fuzz tests, which change the kept corpus at random, share out a minute on all cores; the long form goes on with the
# fuzzer that is guided by coverage, whose build takes some minutes.
run_fuzz() {
    require_tests fuzz || return 0
    local count
    count=$("$tests" --testing-library swift-testing --list-tests 2>/dev/null | grep -c '[Ff]uzz' || true)
    SMARTPLUG_FUZZ_SECONDS=$((count > 0 ? 1 + 60 * $(nproc) / count : 1)) \
        run_swift_tests fuzz --filter '[Ff]uzz'
    if $is_long; then run_fuzzer; fi
}

# run_swift_tests NAME OPTIONS...
run_swift_tests() {
    local name=$1 status=0 events=$results/$1.jsonl
    shift
    require_tests "$name" || return 0
    mkdir -p "$results"
    rm -f "$events"
    say "running $name"
    SWIFT_BACKTRACE=${SWIFT_BACKTRACE-threads=crashed,registers=none,images=none} \
        timeout --foreground --signal=INT "$suite_limit" \
        "$tests" --testing-library swift-testing --event-stream-version 6.3 \
        --event-stream-output-path "$events" "$@" >"$results/$name.log" 2>&1 || status=$?
    if ! grep -q '"kind":"runEnded"' "$events" 2>/dev/null; then tail -n 60 "$results/$name.log" >&2; fi
    count_report "$name" "$status" "$events"
}

# Builds the tests once for all suites; a suite that cannot be built has failed.
require_tests() {
    if [[ -z ${tests_built:-} ]]; then
        if build_tests; then tests_built=yes; else tests_built=no; fi
    fi
    if [[ $tests_built == yes ]]; then return 0; fi
    record "$1" 0 1 0
    return 1
}

run_interoperability() {
    if ((EUID != 0)); then
        say "skipped: interoperability: network namespaces need root (sudo Scripts/test interoperability)"
        record interoperability 0 0 1
        return
    fi
    require_packages interoperability
    if ! require_python_tools Tests/Interoperability/requirements.txt || ! generate_python_messages ||
        ! build_programs plugd plugctl FollowPlug ButtonTurnsLamp DecodeMessages; then
        record interoperability 0 1 0
        return
    fi
    if [[ " ${suites[*]} " == *" conformance "* ]]; then begin_conformance; fi
    run_in_halves interoperability Tests/Interoperability "$(program_folder)"
}

# The daemon's page in Chromium, and its interfaces before a Prometheus and a tester of HTTP interfaces.
run_web() {
    if ((EUID != 0)); then
        say "skipped: web: network namespaces need root (sudo Scripts/test web)"
        record web 0 0 1
        return
    fi
    require_packages interoperability web
    if ! require_python_tools Tests/Interoperability/requirements.txt || ! build_programs plugd plugctl; then
        record web 0 1 0
        return
    fi
    run_in_halves web Tests/Web "$(program_folder)"
}

# run_in_halves NAME TESTS FOLDER: every other file of a folder of Python tests beside the rest, since they wait most of their
# time. Each half makes its own world, and tells what it did one after the other.
run_in_halves() {
    local name=$1 status=0 half files halves=()
    mkdir -p "$results"
    rm -f "$results/$name"-*.xml
    say "running $name"
    for half in 0 1; do
        mapfile -t files < <(cd "$2" && printf '%s\n' test_*.py | awk "NR % 2 == $half")
        "$2/run" "$3" --junit-xml "$results/$name-$half.xml" "${files[@]}" >"$results/$name-$half.log" 2>&1 &
        halves+=($!)
    done
    for half in 0 1; do
        # GNU tail ends with the run that it follows.
        tail --follow --lines=+1 --sleep-interval=0.2 --pid="${halves[half]}" "$results/$name-$half.log"
        wait "${halves[half]}" || status=$?
    done
    count_report "$name" "$status" "$results/$name-0.xml" "$results/$name-1.xml"
}

# plugd before the scripted peer, where a warning is a failure too; the long form also proves that each criterion can fail.
run_conformance() {
    if ((EUID != 0)); then
        say "skipped: conformance: network namespaces need root (sudo Scripts/test conformance)"
        record conformance 0 0 1
        return
    fi
    require_packages conformance
    if ! require_python_tools Tests/Interoperability/requirements.txt || ! build_programs plugd; then
        record conformance 0 1 0
        return
    fi
    judge_plugd conformance --strict
    if $is_long; then judge_plugd conformance-proofs --prove; fi
}

# It waits most of its time: where interoperability is asked for as well it runs beside that.
begin_conformance() {
    require_packages conformance
    ask_plugd conformance --strict &
    asking=$!
}

# ask_plugd NAME OPTIONS...
ask_plugd() {
    local name=$1
    shift
    mkdir -p "$results"
    rm -f "$results/$name.xml"
    Tests/Conformance/run "$(program_folder)" --target plugd --junit-xml "$results/$name.xml" "$@" >"$results/$name.log"
}

# judge_plugd NAME OPTIONS...
judge_plugd() {
    local name=$1 status=0 report=$results/$1.xml
    say "running $name"
    if [[ $name == conformance && -n ${asking:-} ]]; then
        wait "$asking" || status=$?
        asking=
    else
        ask_plugd "$@" || status=$?
    fi
    if ((status != 0)); then grep --extended-regexp --after-context=1 '^(fail|warn)' "$results/$name.log" >&2 || true; fi
    count_report "$name" "$status" "$report"
}

# The release plugd on a real kernel's drivers, in a guest that needs no root.
run_hardware() {
    local reason
    reason=$(why_no_guest)
    if [[ -n $reason ]]; then
        say "skipped: hardware: $reason"
        record hardware 0 0 1
        return
    fi
    require_packages hardware
    if ! require_python_tools Tests/Interoperability/requirements.txt || ! build_guest; then
        record hardware 0 1 0
        return
    fi
    run_in_halves hardware Tests/HardwareInTheLoop .build-guest
}

# why_no_guest: nothing where the guest can be made.
why_no_guest() {
    local missing
    if ! is_debian || [[ $(dpkg --print-architecture) != amd64 ]]; then
        echo "the guest is made of Debian's packages for amd64"
    elif ((EUID != 0)) && missing=$(missing_packages hardware) && [[ -n $missing ]]; then
        echo "these packages are missing (sudo apt-get install --no-install-recommends ${missing//$'\n'/ })"
    fi
}

# The packages of the released programs in a clean system, which boots in namespaces.
run_packages() {
    local reason status=0
    reason=$(why_no_board)
    if [[ -n $reason ]]; then
        say "skipped: packages: $reason"
        record packages 0 0 1
        return
    fi
    require_packages packages
    mkdir -p "$results" .build-packages
    rm -f "$results/packages.xml"
    # The size of the firmware is judged; that of the controller is not worth the time.
    if ! require_python_tools Tests/Interoperability/requirements.txt ||
        ! Scripts/package firmware || ! Scripts/package controller --quick ||
        ! quietly .build-packages/root.log Tests/Packages/root .build-packages; then
        record packages 0 1 0
        return
    fi
    say "running packages"
    Tests/Packages/run .build-packages "$(program_folder)" --junit-xml "$results/packages.xml" || status=$?
    count_report packages "$status" "$results/packages.xml"
}

# why_no_board: nothing where a clean system can be made and booted.
why_no_board() {
    if ! is_debian; then
        echo "the clean system is made of Debian's packages"
    elif ((EUID != 0)); then
        echo "a clean system needs root (sudo Scripts/test packages)"
    elif ! grep -q '\<overlay$' /proc/filesystems && ! modprobe overlay 2>/dev/null; then
        echo "this kernel has no overlay file system"
    fi
}
