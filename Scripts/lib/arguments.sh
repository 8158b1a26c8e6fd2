# Reads the arguments of Scripts/test into suites, checks_format and what the tests find in their environment. Sourced.

usage='usage: Scripts/test [unit|simulation|interoperability|web|conformance|hardware|packages|fuzz]... [options]

Without a name it runs unit and a sample of simulation, and needs no root.

  --all         everything, and the format: what CI runs (interoperability, web, conformance and packages need root)
  --full        the long form: more seeds, the coverage-guided fuzzer, more rounds of killing, more noise,
                proof that each criterion of conformance can fail
  --keep        what the fuzzer found worth keeping becomes the corpus in Tests/Fuzz/Corpus
  --seeds N     simulated houses a test, each from its own seed
  --seed S      only the house of this seed, to replay a failure
  --capture DIR leave there what went over the links of each simulated house, for Wireshark (pcap)
  --traces DIR  recorded appliances (default ../shared/traces, where it is there)

The last line is always: N passed, N failed, N skipped'

wrong_usage() {
    complain "$1" "Scripts/test --help"
    exit 64
}

# require_number OPTION VALUE
require_number() {
    [[ ${2:-} =~ ^[0-9]+$ ]] || wrong_usage "$1 takes a number, not '${2:-}'"
}

read_arguments() {
    suites=() checks_format=false is_long=false keeps_corpus=false
    suite_limit=15m  # A test that never ends is told as one that the run broke off in.
    seeds='' seed='' traces=''
    local all=false full=false
    while (($#)); do
        case $1 in
        --all) all=true ;;
        --full) full=true ;;
        --keep) keeps_corpus=true ;;
        --seeds | --seed)
            require_number "$@"
            printf -v "${1#--}" %s "$2"
            shift
            ;;
        --traces)
            [[ -d ${2:-} ]] || stop "--traces: there is no folder '${2:-}'" "leave it out to use the built-in models"
            traces=$2
            shift
            ;;
        --capture)
            [[ -n ${2:-} ]] || wrong_usage "--capture takes a folder"
            mkdir -p "$2" || stop "--capture: '$2' is no folder, and none can be made there"
            # The simulations find it.
            SMARTPLUG_CAPTURE=$(realpath "$2") && export SMARTPLUG_CAPTURE
            shift
            ;;
        -h | --help)
            say "$usage"
            exit 0
            ;;
        -*) wrong_usage "there is no option $1" ;;
        *)
            [[ " ${suite_names[*]} " == *" $1 "* ]] || wrong_usage "there is no suite '$1'; there are: ${suite_names[*]}"
            suites+=("$1")
            ;;
        esac
        shift
    done
    local default_seeds=25
    if ((${#suites[@]} == 0)); then suites=(unit simulation); fi
    if $all; then suites=(unit simulation fuzz interoperability web conformance hardware packages) checks_format=true default_seeds=100; fi
    if $full; then
        is_long=true default_seeds=5000 suite_limit=6h
        # The interoperability tests find it.
        export SMARTPLUG_KILL_ROUNDS=200 SMARTPLUG_NOISE_DATAGRAMS=1000000 SMARTPLUG_DECODED_MESSAGES=200000
    fi
    if $keeps_corpus && ! $full; then wrong_usage "--keep goes with fuzz --full"; fi
    # Thousands of houses take their time.
    if ((${seeds:-0} > 1000)); then suite_limit=6h; fi
    tell_the_tests "${seeds:-$default_seeds}"
}

# tell_the_tests SEEDS: what tests find in their environment.
tell_the_tests() {
    export SMARTPLUG_SEEDS=$1
    if [[ -n $seed ]]; then export SMARTPLUG_SEED=$seed; fi
    if [[ -z $traces && -d ../shared/traces ]]; then traces=../shared/traces; fi
    if [[ -n $traces ]]; then SMARTPLUG_TRACES=$(realpath "$traces") && export SMARTPLUG_TRACES; fi
}
