# The coverage-guided fuzzer: libFuzzer on the targets of Tests/Fuzz, from the corpus that is kept there. Sourced.

fuzzer_settings=(--scratch-path .build-fuzz -c release --sanitize fuzzer --product Fuzzer --no-color-diagnostics)
fuzzer=.build-fuzz/release/Fuzzer
# What the runs work with; only `--keep` brings it back into the corpus.
fuzzer_work=.build-fuzz/work
# Inputs of this size reach everything, and small ones are tried more often.
fuzzer_options=(-timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1)

build_fuzzer() {
    announce_build "the fuzzer" .build-fuzz
    SMARTPLUG_FUZZER=1 quietly .build-fuzz/build.log swift_build "${fuzzer_settings[@]}"
}

# run_fuzzer: ten minutes for each side of the plug protocol, one for each other target, on all cores.
run_fuzzer() {
    if ! build_fuzzer; then
        record fuzzer 0 1 0
        return
    fi
    rm -rf "$fuzzer_work"
    local target targets=(plug-server controller-session) kept=0 broken=0
    for target in Tests/Fuzz/Corpus/*/; do
        target=$(basename "$target")
        if [[ " ${targets[*]} " != *" $target "* ]]; then targets+=("$target"); fi
    done
    say "running the fuzzer on ${targets[*]}"
    for target in "${targets[@]}"; do
        while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
        fuzz_target "$target" &
    done
    wait
    for target in "${targets[@]}"; do
        if judge_target "$target"; then kept=$((kept + 1)); else broken=$((broken + 1)); fi
    done
    record fuzzer "$kept" "$broken" 0
    if $keeps_corpus; then for target in "${targets[@]}"; do keep_corpus "$target"; done; fi
}

# fuzz_target TARGET: grows a copy of its corpus; the log tells how it went.
fuzz_target() {
    local work=$fuzzer_work/$1 seconds=60
    mkdir -p "$work/seeds" "$work/grown" "$work/found"
    if [[ $1 == plug-server || $1 == controller-session ]]; then seconds=600; fi
    SWIFT_BACKTRACE=enable=no SMARTPLUG_FUZZ_TARGET=$1 SMARTPLUG_FUZZ_SEEDS=$work/seeds \
        "$fuzzer" "${fuzzer_options[@]}" -max_total_time="$seconds" -artifact_prefix="$work/found/" \
        "$work/grown" "$work/seeds" "Tests/Fuzz/Corpus/$1" >"$work/log" 2>&1 && touch "$work/passed"
}

judge_target() {
    local work=$fuzzer_work/$1 runs input reason
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
    if [[ -e $work/passed ]]; then
        say "  $1: ${runs:-no} inputs kept every promise"
        return
    fi
    reason=$(grep -m 1 -E 'Fatal error|ERROR: libFuzzer' "$work/log" || tail -n 1 "$work/log")
    for input in "$work"/found/*; do
        [[ -e $input ]] || input="(none; see $work/log)"
        complain "$1: $reason; the input: $input" \
            "replay it with SMARTPLUG_FUZZ_TARGET=$1 $fuzzer $input; keep it as Tests/Fuzz/Corpus/$1/NAME.input and all tests do"
    done
    return 1
}

# keep_corpus TARGET: few inputs that together reach what all of them reach become the corpus.
keep_corpus() {
    local work=$fuzzer_work/$1 corpus=Tests/Fuzz/Corpus/$1 input
    rm -rf "$work/kept"
    mkdir -p "$work/kept"
    # Without counters, how often something is reached makes no input worth keeping.
    SWIFT_BACKTRACE=enable=no SMARTPLUG_FUZZ_TARGET=$1 "$fuzzer" -set_cover_merge=1 -use_counters=0 -max_len=4096 \
        "$work/kept" "$corpus" "$work/grown" "$work/seeds" >"$work/merge.log" 2>&1 || return 0
    rm -f "$corpus"/*.input
    for input in "$work"/kept/*; do
        cp "$input" "$corpus/$(basename "$input" | cut -c 1-12).input"
    done
    say "  $1: $(find "$corpus" -type f | wc -l) inputs, $(du -sb "$corpus" | cut -f 1) bytes kept"
}
