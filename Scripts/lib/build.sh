# Builds the tests, the programs and the guest, each in its own folder, since their settings differ. Sourced.

# What is tested is optimised, or thousands of simulated houses would take hours, and the tests look inside it all the same; the
# libraries below are not, which takes half as long to build. Tests cannot be linked with the static runtime. Colour is part of the
# compiler's command: on a terminal everything would be built once more.
test_settings=(--scratch-path .build-tests -c debug --disable-index-store --no-color-diagnostics)
export SMARTPLUG_TESTS=1
tests=.build-tests/debug/smartplugPackageTests.xctest
# The programs as they are shipped: with the runtime inside, stripped by the linker. Optimising for size would save 4 % of it
# and cost a quarter of the events a second.
program_settings=(
    --scratch-path .build-release -c release --static-swift-stdlib -Xlinker --strip-all --no-color-diagnostics
)

# swift_build OPTIONS...: with C compiled through a cache that the build folders share, where there is one.
swift_build() {
    local compiler
    compiler=$(dirname "$(command -v swift)")/clang
    if command -v ccache >/dev/null && [[ -x $compiler ]]; then
        CC=$PWD/Scripts/lib/clang SMARTPLUG_CLANG=$compiler swift build "$@"
    else
        swift build "$@"
    fi
}

# announce_build WHAT FOLDER
announce_build() {
    if [[ -d $2/release || -d $2/debug ]]; then say "building $1"; else say "building $1 (first time: some minutes)"; fi
}

build_tests() {
    announce_build "the tests" .build-tests
    # Not what only stands beside them: each program that is built with the tests' settings too takes half a minute.
    # What runs scripts is looked for beside whoever starts it.
    quietly .build-tests/build.log swift_build --product plugctl-script "${test_settings[@]}" &&
        quietly .build-tests/build.log swift_build --product smartplugPackageTests "${test_settings[@]}"
}

# The programs while the tests are built: each build alone leaves much of a second core idle. Whoever wants the programs waits
# for it, and hears of what went wrong when it is built again.
build_programs_beside() {
    # Both would write the file that says which versions are used.
    quietly .build-tests/resolve.log swift package --scratch-path .build-tests resolve || return 0
    build_programs "$@" >.build-tests/beside.log 2>&1 &
    beside=$!
}

# build_programs [PROGRAM...]: those that are shipped, or these.
build_programs() {
    if [[ -n ${beside:-} && $BASHPID == "$$" ]]; then
        wait "$beside" || true
        beside=
    fi
    announce_build "the programs" .build-release
    local program
    if (($# == 0)); then set -- plugd plugctl; fi
    # What runs scripts, which plugctl looks for beside itself.
    if [[ " $* " == *" plugctl "* ]]; then set -- "$@" plugctl-script; fi
    for program; do
        quietly .build-release/build.log swift_build "${program_settings[@]}" --product "$program" || return
        # A short name, for people.
        ln -sf "$(program_folder)/$program" .build-release/
    done
}

# The benchmarks, built as the programs are, and the C programs that they are compared with.
build_benchmarks() {
    announce_build "the benchmarks" .build-release
    SMARTPLUG_BENCHMARKS=1 quietly .build-release/build.log swift_build "${program_settings[@]}" --product Benchmarks ||
        return
    # What runs scripts is looked for beside whoever starts it.
    quietly .build-release/build.log swift_build "${program_settings[@]}" --product plugctl-script || return
    mkdir -p .build-release/references
    cc -O2 -Wall -o .build-release/references/round_trip Tests/BenchmarkReferences/round_trip.c
    cc -O2 -Wall -o .build-release/references/mosquitto_stream Tests/BenchmarkReferences/mosquitto_stream.c -lmosquitto
    cc -O2 -Wall -o .build-release/references/ldns_message Tests/BenchmarkReferences/ldns_message.c -lldns
}

# The C programs that press buttons, do what plugd does to them, and count.
build_hardware_references() {
    local program
    for program in press_poller process_rest start_to_button; do
        cc -O2 -Wall -o ".build-release/references/$program" "Tests/BenchmarkReferences/$program.c"
    done
    cc -O2 -Wall -o .build-release/references/edge_to_line Tests/BenchmarkReferences/edge_to_line.c -lgpiod
}

# The folder that holds plugd and plugctl.
program_folder() { swift build "${program_settings[@]}" --show-bin-path 2>/dev/null; }

# The guest of the hardware tests in .build-guest, and its programs: plugd is there for both interfaces of libgpiod.
build_guest() {
    if [[ -e .build-guest/key ]]; then say "building the guest"; else say "building the guest (first time: a minute)"; fi
    quietly .build-tests/guest.log Tests/HardwareInTheLoop/guest/build .build-guest && build_programs plugd plugctl ||
        return
    local folder kept=.build-guest/programs
    folder=$(program_folder)
    mkdir -p "$kept"
    cp "$folder/plugctl" "$kept/"
    if ! cmp -s "$folder/plugd" "$kept/plugd-libgpiod1" || [[ ! -e $kept/plugd-libgpiod2 ]]; then
        rm -f "$kept"/plugd-*
        # Only what stands right on libgpiod is compiled anew.
        SMARTPLUG_LIBGPIOD=$PWD/.build-guest/libgpiod2 build_programs plugd &&
            cp "$folder/plugd" "$kept/plugd-libgpiod2" && build_programs plugd &&
            cp "$folder/plugd" "$kept/plugd-libgpiod1"
    fi
}
