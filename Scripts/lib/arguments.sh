# Reads the arguments of Scripts/test into suites and what the tests find in their environment. Sourced.

usage='usage: Scripts/test [unit|simulation|programs|interoperability|web|homekit|home-assistant|conformance|hardware|packages|fuzz|bench|soak]...
                    [options]

Without a name it runs unit and a sample of simulation, and needs no root.

  --all         everything, and the format: what CI runs
                (interoperability, web, homekit, home-assistant, conformance, packages and bench need root)
  --only NAMES  unit tests of these modules alone, with commas between them: --only Automation,RuleFiles
  --full        the long form: more seeds, the coverage-guided fuzzer, more rounds of killing, more noise,
                proof that each criterion of conformance can fail
  --hours N     how long soak runs, a house of ten plugs in which everything goes wrong (default: five minutes; --all has it with --full)
  --keep        what the fuzzer found worth keeping becomes the corpus in Tests/Fuzz/Corpus
  --seeds N     simulated houses a test, each from its own seed
  --seed S      only the house of this seed, to replay a failure
  --capture DIR leave there what went over the links of each simulated house, for Wireshark (pcap)
  --traces DIR  recorded appliances (default ../shared/traces, where it is there)
  --times FILE  compare where the time went with an earlier run, whose .build-tests/results/times.jsonl was kept as FILE
  --repeat N    run the chosen suites N times and print how often each case failed; with --busy C, C cores compute meanwhile

  --no-install  print the command that installs what is missing, instead of running it

Compiled modules are kept in ~/.cache/smartplug for all checkouts (SMARTPLUG_CACHE names another folder, or is "off").
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
    suites=() is_long=false keeps_corpus=false compiles_benchmarks=false only='' compare='' rounds='' busy=''
    job_limit=900  # seconds; a test that never ends is told as one that the run broke off in
    seeds='' seed='' traces='' hours=''
    local all=false full=false
    while (($#)); do
        case $1 in
        --all) all=true ;;
        --no-install) installs=false ;;
        --full) full=true ;;
        --keep)
            keeps_corpus=true
            # The fuzzer finds it.
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
            [[ -r ${2:-} ]] || wrong_usage "--times: there is no file '${2:-}'"
            # The run begins with an empty folder of results.
            compare=$(mktemp) && cp "$2" "$compare"
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
    if [[ -n $busy && -z $rounds ]]; then wrong_usage "--busy goes with --repeat"; fi
    local default_seeds=25
    if [[ -n $only ]]; then
        if ((${#suites[@]})) || $all; then wrong_usage "--only goes with no suite: it runs unit tests"; fi
        suites=(unit)
    fi
    if ((${#suites[@]} == 0)); then suites=(unit simulation); fi
    if $all; then suites=(unit simulation fuzz programs interoperability web homekit home-assistant conformance hardware packages format) default_seeds=100 compiles_benchmarks=true; fi
    durations=${cache/#off/.build-tests}/durations.json
    if $full; then
        is_long=true default_seeds=5000 job_limit=21600
        if $all; then suites+=(bench soak); fi
        # The interoperability tests find it.
        export SMARTPLUG_KILL_ROUNDS=200 SMARTPLUG_NOISE_DATAGRAMS=1000000 SMARTPLUG_DECODED_MESSAGES=200000
    fi
    if $keeps_corpus && ! $full; then wrong_usage "--keep goes with fuzz --full"; fi
    if [[ -n $hours ]]; then
        # The job has time to come to rest.
        export SMARTPLUG_SOAK_SECONDS=$((hours * 3600))
        job_limit=$((hours * 3600 + 1800))
    fi
    # Thousands of houses take their time.
    if ((${seeds:-0} > 1000)); then job_limit=21600; fi
    tell_the_tests "${seeds:-$default_seeds}"
}

# tell_the_tests SEEDS: what tests find in their environment.
tell_the_tests() {
    export SMARTPLUG_SEEDS=$1
    if [[ -n $seed ]]; then export SMARTPLUG_SEED=$seed; fi
    if [[ -z $traces && -d ../shared/traces ]]; then traces=../shared/traces; fi
    if [[ -n $traces ]]; then SMARTPLUG_TRACES=$(realpath "$traces") && export SMARTPLUG_TRACES; fi
}
