# Defines the requirements and the jobs of each suite. Sourced.
#
# For a suite NAME: packages_of[NAME] has the purposes of install.sh whose packages the suite needs, why_not_NAME prints the reason if the
# suite cannot run here, and jobs_NAME prints its jobs, one per line, in the format of Scripts/lib/jobs.py.

suite_names=(unit simulation fuzz programs interoperability web homekit matter home-assistant sleep-proxy wide-area conformance hardware packages image bench soak)
declare -A packages_of=(
    [programs]="programs" [interoperability]="interoperability" [web]="interoperability web" [homekit]="interoperability" [matter]="interoperability" [sleep-proxy]="interoperability sleep-proxy" [wide-area]="interoperability wide-area" [conformance]="conformance"
    [home-assistant]="interoperability home-assistant" [hardware]="hardware" [packages]="package packages" [image]="package image image-test" [bench]="interoperability bench bench-fleet bench-addressing bench-dashboard hardware web package image image-test"
    [format]="interoperability" [soak]="interoperability"
)

wants() { [[ " ${suites[*]} " == *" $1 "* ]]; }

# choose_suites: removes from `suites` those that cannot run here, and prints the reason.
choose_suites() {
    local suite reason chosen=()
    for suite in "${suites[@]}"; do
        reason=
        if declare -F "why_not_$suite" >/dev/null; then reason=$("why_not_$suite"); fi
        if [[ -n $reason ]]; then
            say "skipped: $suite: $reason"
            note '{"kind": "skipped", "suite": "%s"}' "$suite"
        else
            chosen+=("$suite")
        fi
    done
    suites=("${chosen[@]}")
    if tests_arm64 && reason=$(why_not_arm64) && [[ -n $reason ]]; then
        say "skipped: hardware on arm64: $reason"
        note '{"kind": "skipped", "suite": "hardware on arm64"}'
        architectures=("${architectures[@]/arm64/}")
    fi
}

# tests_on ARCHITECTURE: true if the suite hardware runs on this processor.
tests_on() { wants hardware && [[ " ${architectures[*]} " == *" $1 "* ]]; }
tests_arm64() { tests_on arm64; }

needs_root() { if ((EUID != 0)); then echo "$1 needs root (sudo Scripts/test $2)"; fi; }
why_not_interoperability() { needs_root "a network namespace" interoperability; }
why_not_soak() { needs_root "a network namespace" soak; }
why_not_web() { needs_root "a network namespace" web; }
why_not_homekit() { needs_root "a network namespace" homekit; }
why_not_matter() {
    if ((EUID != 0)); then
        needs_root "a network namespace" matter
    elif ! [[ $(uname -m) =~ ^(x86_64|aarch64)$ ]]; then
        echo "the controller of the Matter SDK exists for amd64 and arm64"
    fi
}
why_not_sleep-proxy() { needs_root "a network namespace" sleep-proxy; }
why_not_wide-area() { needs_root "a network namespace" wide-area; }
why_not_home-assistant() {
    if ((EUID != 0)); then
        needs_root "a network namespace" home-assistant
    elif ! home_assistant_python >/dev/null; then
        echo "Home Assistant requires Python 3.13, which is neither in PATH nor installed by pyenv"
    fi
}
why_not_conformance() { needs_root "a network namespace" conformance; }
why_not_bench() { needs_root "a network namespace" bench; }

why_not_hardware() {
    local missing
    if ! is_debian || [[ $(dpkg --print-architecture) != amd64 ]]; then
        echo "the guest is made of Debian's packages for amd64"
    elif ((EUID != 0)) && missing=$(missing_packages hardware) && [[ -n $missing ]]; then
        echo "these packages are missing (sudo apt-get install --no-install-recommends ${missing//$'\n'/ })"
    fi
}

why_not_packages() {
    if ! is_debian; then
        echo "the clean system is made of Debian's packages"
    elif ((EUID != 0)); then
        needs_root "a clean system" packages
    elif ! grep -q '\<overlay$' /proc/filesystems && ! modprobe overlay 2>/dev/null; then
        echo "this kernel has no overlay file system"
    fi
}

why_not_image() {
    if ! is_debian || [[ $(dpkg --print-architecture) != amd64 ]]; then
        echo "the image is made of Debian's packages for amd64"
    elif ((EUID != 0)); then
        needs_root "mmdebstrap" image
    fi
}

# install_for_suites: installs the packages of all suites with one call of apt-get.
install_for_suites() {
    local suite purposes=(build)
    for suite in "${suites[@]}"; do
        # shellcheck disable=SC2206
        purposes+=(${packages_of[$suite]:-})
    done
    if boots_sleeper; then purposes+=(hardware); fi
    if tests_arm64; then purposes+=(arm64 hardware-arm64); fi
    if tests_image_of_arm64; then purposes+=(arm64 image-foreign image-test-arm64); fi
    if $compiles_benchmarks; then purposes+=(bench); fi
    require_packages "${purposes[@]}"
}

# boots_sleeper: true if the sleep-proxy suite boots a guest, which only its long form does.
boots_sleeper() { $is_long && wants sleep-proxy && [[ -z $(why_not_hardware) ]]; }

# prepare_suites: installs Python tools and builds the guest. Scripts/test runs it in parallel with the compiler.
prepare_suites() {
    if wants_python; then
        phase "installing the Python tools" require_python_tools Tests/Interoperability/requirements.txt || return
    fi
    if wants home-assistant; then
        phase "installing Home Assistant" require_home_assistant || return
    fi
    if wants matter; then
        phase "installing the Matter SDK" require_matter || return
    fi
    if tests_on amd64 || wants bench || boots_sleeper; then
        phase "building the guest" quietly .build-logs/guest.log Tests/HardwareInTheLoop/guest/build .build-guest || return
    fi
    if tests_arm64; then
        phase "making the compiler for arm64" require_arm64 || return
        phase "building the guest for arm64" quietly .build-logs/guest-arm64.log Tests/HardwareInTheLoop/guest/build .build-guest-arm64 arm64 ||
            return
    fi
}

wants_python() {
    local suite
    for suite in programs interoperability web homekit matter home-assistant sleep-proxy wide-area conformance hardware packages image bench soak format; do
        if wants "$suite"; then return 0; fi
    done
    return 1
}

# The folder of the programs that tests start: those of a release, and a few that only tests need.
driven=.build-tests/driven

build_for_suites() {
    local programs=false program suite
    for suite in programs interoperability web homekit matter home-assistant sleep-proxy wide-area conformance hardware packages image soak; do
        if wants "$suite"; then programs=true; fi
    done
    # --all compiles the benchmarks without running them, to detect compile errors.
    if wants bench || $compiles_benchmarks; then
        build_benchmarks || return
    elif $programs; then
        build_programs || return
    fi
    if wants unit || wants simulation || wants fuzz; then
        build_tests || return
    elif wants interoperability || wants soak; then
        for program in FollowPlug ButtonTurnsLamp DecodeMessages; do build "building $program" tests --product "$program" || return; done
    fi
    if ! $programs; then return; fi
    rm -rf "$driven"
    mkdir -p "$driven"
    ln -s "$PWD/$shipped_folder"/release/{plugd,plugctl,plugctl-script} \
        "$PWD/$tests_folder"/debug/{FollowPlug,ButtonTurnsLamp,DecodeMessages} "$driven/"
    if tests_on amd64; then furnish_guest .build-guest "$shipped_folder" plugd plugctl; fi
}

# The short form for arm64 needs only plugd in the guest. The controller runs on this machine.
build_for_arm64_guest() {
    local program programs=(plugd)
    if $is_long; then programs+=(plugctl); fi
    for program in "${programs[@]}"; do build_for_arm64 "$program" || return; done
    furnish_guest .build-guest-arm64 "$arm64_build" "${programs[@]}"
}

# furnish_guest GUEST FOLDER PROGRAM...: copies the programs that run in the guest.
furnish_guest() {
    local guest=$1 folder=$2
    shift 2
    rm -rf "$guest/programs"  # The guest gets all files of this folder.
    mkdir -p "$guest/programs"
    cp "${@/#/$folder/release/}" "$guest/programs/"
}

# job SUITE NAME KIND REPORT COMMAND...: prints one line of the list of jobs. For a report that ends in .status only the exit status counts.
job() {
    local IFS=$'\t'
    printf '%s\n' "$*"
}

# The modules whose tests wait for sockets, disks, processes and clocks. They run apart from tests that compute, which would delay them.
in_real_time='^(AddressService|Daemon|DaemonClient|Dashboard|Effects|LinuxNetwork|LinuxSystem|PlugClient|PlugService|PlugTransport|Scripting)Tests\.'

# swift_job NAME KIND OPTIONS...: prints a job of the test program. Tests that compute run one per core, tests that wait four per core.
# Without this limit all tests would run at once, each would take as long as all together, and timeouts would expire.
swift_job() {
    local name=$1 kind=$2 width
    shift 2
    width=$(nproc)
    if [[ $kind == waits ]]; then width=$((4 * width)); fi
    job "${name%% *}" "$name" "$kind" "$results/${name// /-}.jsonl" \
        env "SWIFT_BACKTRACE=${SWIFT_BACKTRACE-threads=crashed,registers=none,images=none}" "$PWD/$tests" \
        --testing-library swift-testing --experimental-maximum-parallelization-width "$width" --event-stream-version 6.3 \
        --event-stream-output-path "$results/${name// /-}.jsonl" "$@"
}

jobs_unit() {
    local fuzz=()
    # The fuzz suite runs these tests for a longer time.
    if wants fuzz; then fuzz=(--skip '[Ff]uzz'); fi
    if [[ -n ${only:-} ]]; then
        swift_job unit parallel "${fuzz[@]}"
        return
    fi
    swift_job "unit that computes" parallel --skip '^SimulationTests\.' --skip "$in_real_time" "${fuzz[@]}"
    swift_job "unit in real time" waits --filter "$in_real_time" "${fuzz[@]}"
}

jobs_simulation() {
    if [[ -z ${only:-} ]]; then swift_job simulation parallel --filter '^SimulationTests\.'; fi
}

# The fuzz tests mutate the inputs of the corpus with fixed seeds. In the long form, all tests together run for about a minute with random
# seeds. With --seed, they also run for about a minute, but with the given seed.
# The long form also runs the coverage-guided fuzzer, whose build takes some minutes.
jobs_fuzz() {
    local count
    if $is_long || [[ -n $seed ]]; then
        count=$("$tests" --testing-library swift-testing --list-tests 2>/dev/null | grep -c '[Ff]uzz' || true)
        export SMARTPLUG_FUZZ_SECONDS=$((count > 0 ? 1 + 60 * $(nproc) / count : 1))
    fi
    swift_job fuzz parallel --filter '[Ff]uzz'
    if $is_long; then job fuzz guided computes "$results/guided.status" Tests/Fuzz/guided; fi
}

# Test files that only the long form runs. The tests of the compiler cache take minutes, and only a change of the cache can break them.
# A better sleep proxy takes over only after a minute, so test_better_proxy takes longer than that. test_suspended_machine boots a guest.
# test_silence captures for an hour, and test_matter_limits waits for commissioning windows.
long_files=" test_compiler_cache test_better_proxy test_suspended_machine test_silence test_matter_limits "

# python_jobs SUITE KIND FOLDER ARGUMENT...: prints a job for each test file of a folder. The folder's program `run` gets the arguments.
python_jobs() {
    local suite=$1 usual=$2 folder=$3 file name kind
    shift 3
    for file in "$folder"/test_*.py; do
        name=$(basename "$file" .py)
        kind=$usual
        if ! $is_long && [[ $long_files == *" $name "* ]]; then continue; fi
        if [[ $name == test_suspended_machine ]]; then kind=guest; fi
        job "$suite" "$name" "$kind" "$results/$suite-$name.xml" \
            "$folder/run" "$@" --junit-xml "$results/$suite-$name.xml" "$name.py"
    done
}

jobs_programs() { python_jobs programs waits Tests/Programs "$driven"; }
jobs_interoperability() { python_jobs interoperability waits Tests/Interoperability "$driven"; }
# half_jobs SUITE KIND FOLDER ARGUMENT...: prints two jobs with half of the folder's test files each. The files of a job share one browser,
# or one guest.
half_jobs() {
    local suite=$1 kind=$2 folder=$3 half number chosen
    local files=("$folder"/test_*.py)
    shift 3
    for half in 0 1; do
        chosen=()
        for ((number = half; number < ${#files[@]}; number += 2)); do chosen+=("${files[number]##*/}"); done
        job "$suite" "$suite $half" "$kind" "$results/$suite-$half.xml" \
            "$folder/run" "$@" --junit-xml "$results/$suite-$half.xml" "${chosen[@]}"
    done
}
jobs_web() { half_jobs web browser Tests/Web "$driven"; }
jobs_homekit() { python_jobs homekit waits Tests/HomeKit "$driven"; }
jobs_matter() { python_jobs matter waits Tests/Matter "$driven" "$(shared_environment matter Tests/Matter/requirements.txt)"; }
jobs_sleep-proxy() { python_jobs sleep-proxy waits Tests/SleepProxy "$driven"; }
jobs_wide-area() { python_jobs wide-area waits Tests/WideArea "$driven"; }
jobs_home-assistant() {
    python_jobs home-assistant waits Tests/HomeAssistant "$driven" "$(shared_environment home-assistant Tests/HomeAssistant/requirements.txt)"
}
jobs_hardware() {
    local tests=(test_board.py) short=(-m "not long")
    if $is_long; then short=(); fi
    if tests_on amd64; then half_jobs hardware guest Tests/HardwareInTheLoop .build-guest "$driven" "${short[@]}"; fi
    # All files are in one job, because they share one guest.
    if tests_on arm64; then
        if $is_long; then tests=(Tests/HardwareInTheLoop/test_*.py); fi
        job hardware arm64 guest "$results/hardware-arm64.xml" env "SMARTPLUG_SYSROOT=$arm64_sysroot" \
            Tests/HardwareInTheLoop/run .build-guest-arm64 "$driven" --junit-xml "$results/hardware-arm64.xml" "${tests[@]##*/}"
    fi
}

# The scripted peer tests plugd, and a warning is a failure. The long form also proves that each criterion can fail.
jobs_conformance() {
    local judge=(Tests/Conformance/run "$driven" --target plugd)
    job conformance plugd exact "$results/conformance.xml" "${judge[@]}" --junit-xml "$results/conformance.xml" --strict
    if $is_long; then
        job conformance proofs exact "$results/proofs.xml" "${judge[@]}" --junit-xml "$results/proofs.xml" --prove
    fi
}

# The tests install the packages in a clean system that boots in namespaces.
jobs_packages() {
    job packages packages waits "$results/packages.xml" Tests/Packages/build_and_run --junit-xml "$results/packages.xml"
}

# The tests boot an image in QEMU: the short form once and only that of amd64, the long form also with updates and with Wi-Fi.
jobs_image() {
    local tests=(-m "not long" test_image.py) arch
    if $is_long; then tests=(); fi
    for arch in "${architectures[@]}"; do
        if [[ $arch == amd64 ]] || tests_image_of_arm64; then
            job image "image $arch" guest "$results/image-$arch.xml" Tests/Image/build_and_run "$arch" --junit-xml "$results/image-$arch.xml" "${tests[@]}"
        fi
    done
}

# The image of arm64 takes ten minutes, because its programs run in an emulator while it is made.
tests_image_of_arm64() { $is_long && wants image && [[ " ${architectures[*]} " == *" arm64 "* ]]; }

# --quick does not apply bars, so the benchmarks may run in parallel with other jobs.
jobs_bench() {
    local name
    for name in wire security mdns addressing hardware history dashboard rules broker homekit matter sleep-proxy cli image fleet; do
        job bench "$name" waits "$results/bench-$name.status" env SMARTPLUG_BUILT=yes Scripts/bench "$name" --quick
    done
}

# A house with constant faults, for five minutes or the duration of --hours.
jobs_soak() {
    job soak soak waits "$results/soak.xml" Tests/Interoperability/run "$driven" --junit-xml "$results/soak.xml" -s soak.py
}

jobs_format() {
    job format format computes "$results/format.status" Scripts/checks/format
    job format prose computes "$results/prose.status" Scripts/checks/prose
    job format modules computes "$results/modules.status" Scripts/checks/modules --check
    job format limits computes "$results/limits.status" Scripts/checks/limits --check
    job format drawings computes "$results/drawings.status" Scripts/drawings --check
}

# run_suites: runs all jobs. SMARTPLUG_PATIENCE multiplies the timeouts of tests, so that a busy machine fails no test.
run_suites() {
    local suite
    export SMARTPLUG_PATIENCE=${SMARTPLUG_PATIENCE:-4}
    for suite in "${suites[@]}"; do "jobs_$suite"; done >"$results/jobs"
    python3 Scripts/lib/jobs.py "$results/jobs" "$times" --limit "$job_limit" --durations "$durations" \
        ${rounds:+--rounds "$rounds" --busy "${busy:-0}"}
}
