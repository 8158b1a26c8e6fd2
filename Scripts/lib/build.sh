# Builds the tests, the programs and the guest. Sourced.
#
# There are two build folders, since tests look inside the modules (-enable-testing) and the programs must be shipped without that.
# Nothing else differs, so that both take the libraries from one cache of compiled modules.

settings=(-c release --disable-index-store --no-color-diagnostics)
# The tests, and the programs where nobody judges their size, memory or speed.
tests_folder=.build-tests
tests=$tests_folder/release/smartplugPackageTests.xctest
# The programs as they are shipped. Optimising for size would save 4 % of it and cost a quarter of the events a second.
shipped_folder=.build-release
fuzzer_folder=.build-fuzz

# All checkouts on this machine share it. SMARTPLUG_CACHE names another folder, or is "off".
cache=${SMARTPLUG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smartplug}

say_cache() {
    if [[ $cache == off ]]; then
        say "compiling everything: there is no cache (SMARTPLUG_CACHE=off)"
    else
        say "compiled modules come from $cache, which has $(find "$cache/modules" -maxdepth 1 -type d 2>/dev/null | tail -n +2 | wc -l)"
    fi
}

# swift_build tests|shipped|fuzzer OPTIONS...: SwiftPM calls the compilers through wrappers, which know the cache and note what took how long.
swift_build() {
    local kind=$1 folder toolchain
    shift
    case $kind in
    tests) folder=$tests_folder ;;
    shipped) folder=$shipped_folder ;;
    fuzzer) folder=$fuzzer_folder ;;
    esac
    toolchain=$(dirname "$(realpath "$(command -v swift)")")
    SMARTPLUG_BUILD=$kind SMARTPLUG_ROOT=$PWD SMARTPLUG_CACHE=$cache SMARTPLUG_SWIFTC=$toolchain/swiftc \
        SMARTPLUG_CLANG=$toolchain/clang SWIFT_EXEC=$PWD/Scripts/lib/swiftc CC=$PWD/Scripts/lib/clang \
        swift build --scratch-path "$folder" "${settings[@]}" "$@"
}

# build LABEL KIND OPTIONS...: tells how far it is, and shows what the compiler said where it fails.
build() {
    local label=$1 kind=$2 log
    shift 2
    mkdir -p .build-logs
    log=.build-logs/${label// /-}.log
    swift_build "$kind" "$@" 2>&1 | python3 Scripts/lib/progress.py "$label" "$log"
}

# build_tests: all tests, or those of the modules in `only`, and the programs that tests start.
build_tests() {
    if [[ -n ${only:-} ]]; then
        # What runs scripts is looked for beside the tests.
        SMARTPLUG_ONLY=$only build "building tests of $only" tests --product smartplugPackageTests &&
            SMARTPLUG_ONLY=$only build "building the script host" tests --product plugctl-script
    else
        build "building tests and programs" tests --build-tests
    fi
}

# build_programs [PROGRAM]: all that are shipped, or this one.
build_programs() {
    if (($#)); then
        build "building $1" shipped --product "$1" || return
    else
        build "building the programs" shipped || return
    fi
    # Short names, for people.
    local program
    for program in plugd plugctl plugctl-script; do
        if [[ -e $shipped_folder/release/$program ]]; then ln -sf "release/$program" "$shipped_folder/"; fi
    done
}

# build_benchmarks tests|shipped: the benchmarks, and the C programs that they are compared with, in `references` of that folder.
build_benchmarks() {
    local folder=$tests_folder program library
    if [[ $1 == shipped ]]; then folder=$shipped_folder; fi
    SMARTPLUG_BENCHMARKS=1 build "building the benchmarks" "$1" --product Benchmarks || return
    # The benchmarks look for the program that runs scripts beside themselves.
    build "building the script host" "$1" --product plugctl-script || return
    mkdir -p "$folder/references"
    while read -r program library; do
        cc -O2 -Wall -o "$folder/references/$program" "Tests/BenchmarkReferences/$program.c" ${library:+"-l$library"} || return
    done <<'END'
round_trip
mosquitto_stream mosquitto
ldns_message ldns
press_poller
process_rest
start_to_button
edge_to_line gpiod
END
}
