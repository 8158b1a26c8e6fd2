# Builds the demonstration, the tests and the programs. Sourced.
#
# Debug builds (the demonstration and the tests) compile fast and take their libraries from the same cache. Release builds (the programs
# and the fuzzer) are optimised for speed; optimising for size would make the programs 4 % smaller and a quarter slower in events per second.

common_settings=(--disable-index-store --no-color-diagnostics)
# Whole-module compilation takes less processor time, and its outputs are one entry of the cache.
debug_settings=(-c debug -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2)
demo_folder=.build-demo
tests_folder=.build-tests
tests=$tests_folder/debug/smartplugPackageTests.xctest
shipped_folder=.build-release
arm64_build=.build-arm64
fuzzer_folder=.build-fuzz

# The cache of all checkouts on this machine. SMARTPLUG_CACHE names a different folder, or is "off".
cache=${SMARTPLUG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smartplug}

# The folder of temporary files and locks of SwiftPM and the compilers. All builds of a user share it, because SwiftPM reads all manifests
# again when its environment changes.
temporary=${XDG_CACHE_HOME:-$HOME/.cache}/smartplug/temporary

say_cache() {
    if [[ $cache == off ]]; then
        say "compiling everything, because SMARTPLUG_CACHE=off disables the cache"
    else
        say "compiled modules come from $cache, which has $(find "$cache/modules" -maxdepth 1 -type d 2>/dev/null | tail -n +2 | wc -l) modules"
    fi
}

# swift_build demo|tests|shipped|profile|arm64|fuzzer OPTIONS...: builds with SwiftPM, which calls the compilers through wrappers. The wrappers use
# the cache and record durations. The kind arm64 needs arm64.sh.
swift_build() {
    local kind=$1 settings=("${common_settings[@]}") within=() toolchain builds status=0
    toolchain=$(dirname "$(realpath "$(command -v swift)")")
    shift
    case $kind in
    demo) settings+=(--scratch-path "$demo_folder" "${debug_settings[@]}") ;;
    tests) settings+=(--scratch-path "$tests_folder" "${debug_settings[@]}") ;;
    shipped) settings+=(--scratch-path "$shipped_folder" -c release) ;;
    profile) settings+=(--scratch-path .build-profile -c release) ;;
    arm64)
        settings+=(--scratch-path "$arm64_build" -c release --swift-sdks-path "$arm64_folder" --swift-sdk debian-arm64)
        kind=shipped within=(within_compiler) toolchain=/usr/libexec/swift/bin
        ;;
    fuzzer) settings+=(--scratch-path "$fuzzer_folder" -c release) ;;
    esac
    mkdir -p "$temporary"
    if [[ $kind == tests ]]; then write_test_main; fi
    exec {builds}>"$temporary/builds"
    flock --shared "$builds"
    SMARTPLUG_BUILD=$kind SMARTPLUG_ROOT=$PWD SMARTPLUG_CACHE=$cache SMARTPLUG_SWIFTC=$toolchain/swiftc \
        SMARTPLUG_CLANG=$toolchain/clang SWIFT_EXEC=$PWD/Scripts/lib/swiftc CC=$PWD/Scripts/lib/clang \
        TMPDIR=$temporary "${within[@]}" env --unset=SMARTPLUG_TEST_FOLDER swift build "${settings[@]}" "$@" || status=$?
    if [[ $kind == tests ]]; then rm -f Tests/XCTMain.swift; fi
    # The compilers leave folders behind, which are removed when no build runs. The locks are files and stay.
    if flock --nonblock --exclusive "$builds"; then rm -rf "$temporary"/*/; fi
    exec {builds}>&-
    return "$status"
}

# write_test_main: writes the entry point of the test program. SwiftPM's own entry point needs an index of all sources to search for
# tests of XCTest. The file exists only while this script builds, because `swift test` finds no tests with it.
write_test_main() {
    printf '%s\n' 'import Testing' '' '@main struct RunTests {' \
        '    static func main() async { await Testing.__swiftPMEntryPoint() as Never }' '}' >Tests/XCTMain.swift
}

# build LABEL KIND OPTIONS...: builds, shows the progress, and prints the messages of the compiler if the build fails.
build() {
    local label=$1 kind=$2 log
    shift 2
    mkdir -p .build-logs
    log=.build-logs/${label// /-}.log
    swift_build "$kind" "$@" 2>&1 | python3 Scripts/lib/progress.py "$label" "$log"
}

# build_tests: builds all tests, or those of the modules in `only`, and the programs that only tests start.
build_tests() {
    if [[ -n ${only:-} ]]; then
        # The tests expect the script host in the folder of the test program.
        SMARTPLUG_ONLY=$only build "building tests of $only" tests --product smartplugPackageTests &&
            SMARTPLUG_ONLY=$only build "building the script host" tests --product plugctl-script
    else
        build "building the tests" tests --build-tests
    fi
}

# build_programs [PROGRAM]: builds all programs of a release, or only this one.
build_programs() {
    build "building ${1:-the programs}" shipped ${1:+--product "$1"} && name_programs "$shipped_folder" release
}

# build_for_arm64 PROGRAM: builds a program of a release for arm64.
build_for_arm64() { build "building $1 for arm64" arm64 --product "$1" && name_programs "$arm64_build" release; }

build_demo() { build "building the demonstration" demo && name_programs "$demo_folder" debug; }

# name_programs FOLDER CONFIGURATION: links the programs in FOLDER, for short paths.
name_programs() {
    local program
    for program in plugd plugctl plugctl-script; do
        if [[ -e $1/$2/$program ]]; then ln -sf "$2/$program" "$1/"; fi
    done
}

# build_benchmarks: builds the programs of a release, the benchmarks, and their C reference programs (in `references`).
build_benchmarks() {
    local program library
    SMARTPLUG_BENCHMARKS=1 build "building the programs and benchmarks" shipped && name_programs "$shipped_folder" release || return
    mkdir -p "$shipped_folder/references"
    while read -r program library; do
        cc -O2 -Wall -o "$shipped_folder/references/$program" "Tests/BenchmarkReferences/$program.c" ${library:+"-l$library"} ||
            return
    done <<'END'
round_trip
mosquitto_stream mosquitto
ldns_message ldns
press_poller
process_rest
start_to_button
edge_to_line gpiod
frame_echo
END
}
