# Reads the arguments of Scripts/test into `suites` and into environment variables of the tests. Sourced.

usage='usage: Scripts/test [unit|simulation|programs|interoperability|web|homekit|matter|home-assistant|sleep-proxy|wide-area|conformance|hardware|packages|image|fuzz|bench|soak]...
                    [options]

Without a name it runs unit and a sample of simulation, and needs no root.

  --all         run all suites except bench and soak, and the checks of the format, as CI does; with --full also those two
                (interoperability, web, homekit, matter, home-assistant, sleep-proxy, wide-area, conformance, packages, image and bench need root)
  --only NAMES  run only the unit tests of these modules, separated by commas: --only Automation,RuleFiles
  --arch ARCH   the processor of the machine in the suite hardware, and with --full in the suite image: amd64 (default) or arm64;
                --all runs a short test of the hardware for arm64 too
  --full        run the long form: more seeds, the coverage-guided fuzzer, more kills of programs, more random
                datagrams, and the proof that each criterion of conformance can fail
  --hours N     the duration of soak in hours; soak is a house of ten plugs with constant faults (default: five minutes; --all --full runs it)
  --keep        replace the corpus in Tests/Fuzz/Corpus with the inputs that the fuzzer selects
  --seeds N     the number of simulated houses per test, each from its own seed
  --seed S      run only the house of this seed, to replay a failure
  --capture DIR write the packets of each simulated house to DIR, for Wireshark (pcap)
  --traces DIR  recorded appliances (default ../shared/traces, if it exists)
  --times FILE  compare the durations with those of an earlier run; FILE is a copy of its .build-tests/results/times.jsonl
  --repeat N    run the chosen suites N times and print the failure rate of each case; --busy C keeps C cores busy meanwhile

  --no-install  print the command that installs the missing packages, instead of running it

Compiled modules are cached in ~/.cache/smartplug for all checkouts (SMARTPLUG_CACHE names a different folder, or is "off").
The last line is always: N passed, N failed, N skipped'

wrong_usage() {
    complain "$1" "Scripts/test --help"
    exit 64
}

# require_number OPTION VALUE: exits with 64 unless VALUE consists of digits.
require_number() {
    [[ ${2:-} =~ ^[0-9]+$ ]] || wrong_usage "$1 takes a number, not '${2:-}'"
}

read_arguments() {
    suites=() is_long=false keeps_corpus=false compiles_benchmarks=false only='' compare='' rounds='' busy=''
    job_limit=900  # seconds; a job that runs longer is ended and has failed
    seeds='' seed='' traces='' hours='' architectures=(amd64)
    local all=false full=false
    while (($#)); do
        case $1 in
        --all) all=true ;;
        --no-install) installs=false ;;
        --full) full=true ;;
        --keep)
            keeps_corpus=true
            # Tests/Fuzz/guided reads this variable.
            export SMARTPLUG_KEEP_CORPUS=yes
            ;;
        --seeds | --seed | --hours | --busy)
            require_number "$@"
            printf -v "${1#--}" %s "$2"
            shift
            ;;
        --repeat)
            require_number "$@"
            rounds=$2
            shift
            ;;
        --only)
            [[ ${2:-} =~ ^[A-Za-z0-9]+(,[A-Za-z0-9]+)*$ ]] || wrong_usage "--only takes names of modules, not '${2:-}'"
            only=$2
            local name
            for name in ${only//,/ }; do
                [[ -d Tests/${name}Tests ]] || wrong_usage "--only: the module $name has no tests (Tests/${name}Tests)"
            done
            shift
            ;;
        --times)
            [[ -r ${2:-} ]] || wrong_usage "--times: cannot read '${2:-}'"
            # The run empties the folder of results, and the file may be there.
            compare=$(mktemp) && cp "$2" "$compare"
            shift
            ;;
        --traces)
            [[ -d ${2:-} ]] || stop "--traces: no such folder: '${2:-}'" "omit --traces to use the built-in models"
            traces=$2
            shift
            ;;
        --arch)
            [[ ${2:-} =~ ^(amd64|arm64)$ ]] || wrong_usage "--arch takes amd64 or arm64, not '${2:-}'"
            architectures=("$2")
            shift
            ;;
        --capture)
            [[ -n ${2:-} ]] || wrong_usage "--capture takes a folder"
            mkdir -p "$2" || stop "--capture: cannot create the folder '$2'"
            # The simulation tests read this variable.
            SMARTPLUG_CAPTURE=$(realpath "$2") && export SMARTPLUG_CAPTURE
            shift
            ;;
        -h | --help)
            say "$usage"
            exit 0
            ;;
        -*) wrong_usage "unknown option $1" ;;
        *)
            [[ " ${suite_names[*]} " == *" $1 "* ]] || wrong_usage "unknown suite '$1'; the suites are: ${suite_names[*]}"
            suites+=("$1")
            ;;
        esac
        shift
    done
    if [[ -n $busy && -z $rounds ]]; then wrong_usage "--busy requires --repeat"; fi
    local default_seeds=25
    if [[ -n $only ]]; then
        if ((${#suites[@]})) || $all; then wrong_usage "--only cannot be combined with a suite or --all, because it runs unit tests"; fi
        suites=(unit)
    fi
    if ((${#suites[@]} == 0)); then suites=(unit simulation); fi
    if $all; then suites=(unit simulation fuzz programs interoperability web homekit matter home-assistant sleep-proxy wide-area conformance hardware packages image format) compiles_benchmarks=true architectures=(amd64 arm64); fi
    durations=${cache/#off/.build-tests}/durations.json
    if $full; then
        is_long=true default_seeds=5000 job_limit=21600
        if $all; then suites+=(bench soak); fi
        # The interoperability tests read these variables.
        export SMARTPLUG_KILL_ROUNDS=200 SMARTPLUG_NOISE_DATAGRAMS=1000000 SMARTPLUG_DECODED_MESSAGES=200000 SMARTPLUG_DAMAGES=1000,300
    fi
    if [[ ${architectures[*]} == arm64 ]] && wants image && ! $full; then wrong_usage "image --arch arm64 requires --full"; fi
    if $keeps_corpus && ! $full; then wrong_usage "--keep requires fuzz --full"; fi
    if [[ -n $hours ]]; then
        # The limit of the job is half an hour longer than the soak, for its start and its shutdown.
        export SMARTPLUG_SOAK_SECONDS=$((hours * 3600))
        job_limit=$((hours * 3600 + 1800))
    fi
    # Each seed simulates a house. Thousands of houses take hours, so the limit of a job becomes six hours.
    if ((${seeds:-0} > 1000)); then job_limit=21600; fi
    tell_the_tests "${seeds:-$default_seeds}"
}

# tell_the_tests SEEDS: sets the environment variables that the tests read.
tell_the_tests() {
    export SMARTPLUG_SEEDS=$1
    if [[ -n $seed ]]; then export SMARTPLUG_SEED=$seed; fi
    if [[ -z $traces && -d ../shared/traces ]]; then traces=../shared/traces; fi
    if [[ -n $traces ]]; then SMARTPLUG_TRACES=$(realpath "$traces") && export SMARTPLUG_TRACES; fi
}
