"""The parts of Scripts/test: running jobs (Scripts/lib/jobs.py) and summarizing their reports
(Scripts/lib/results.py)."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

LIBRARY = pathlib.Path(__file__).parents[2] / "Scripts/lib"
JUNIT = '<testsuite><testcase classname="c" name="{}" time="{}">{}</testcase></testsuite>'


@pytest.fixture
def run_jobs(tmp_path):
    """Returns a function that runs jobs, given as kind and shell command by name, and returns their results by name."""

    def run(jobs, *options):
        lines = [f"suite\t{name}\t{kind}\t{tmp_path}/{name}.status\tsh\t-c\t{command}\n" for name, (kind, command) in jobs.items()]
        (tmp_path / "jobs").write_text("".join(lines))
        results = tmp_path / "results"
        results.write_text("")
        run.process = subprocess.Popen(
            [sys.executable, LIBRARY / "jobs.py", tmp_path / "jobs", results, *options], stdout=subprocess.PIPE, text=True)
        run.said, _ = run.process.communicate(timeout=60)
        return {line["name"]: line for line in map(json.loads, results.read_text().splitlines())}

    return run


def has_ended(process):
    """Returns True if the process ends within 5 s. A zombie counts as ended."""
    status = pathlib.Path(f"/proc/{process}/stat")
    for _ in range(100):
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_every_job_is_run_and_its_status_told(run_jobs):
    """Every job runs, and its exit status is reported."""
    results = run_jobs({"good": ("waits", "true"), "bad": ("exact", "echo why; exit 3"), "busy": ("computes", "true")})
    assert {name: line["status"] for name, line in results.items()} == {"good": 0, "bad": 3, "busy": 0}
    assert "why" in run_jobs.said and "FAILED: suite bad" in run_jobs.said


def test_a_job_that_fails_and_then_passes_alone_is_repeated_once(run_jobs, tmp_path):
    """A failed job is repeated while no other job runs, and not again if it then passes."""
    late = f"test -e {tmp_path}/tried || {{ echo late; touch {tmp_path}/tried; exit 1; }}"
    results = run_jobs({"late": ("waits", late), "other": ("computes", f"echo x >>{tmp_path}/other")})
    assert results["late"]["repeats"] == {"late": {"runs": 2, "passed": True}} and "repeats" not in results["other"]
    assert "passed, alone: suite late" in run_jobs.said
    assert (tmp_path / "late.log").read_text() == "late\n" and (tmp_path / "late-again0.1.log").exists()
    assert (tmp_path / "other").read_text() == "x\n"


def test_a_job_that_always_fails_runs_three_times(run_jobs, tmp_path):
    results = run_jobs({"bad": ("computes", f"echo x >>{tmp_path}/bad; exit 3")})
    assert results["bad"]["repeats"] == {"bad": {"runs": 3, "passed": False}} and results["bad"]["status"] == 3
    assert len((tmp_path / "bad").read_text().split()) == 3 and "FAILED, alone: suite bad" in run_jobs.said


def test_a_job_whose_output_tells_of_a_crash_is_not_repeated(run_jobs, tmp_path):
    """A job whose output contains a crash is not repeated."""
    results = run_jobs({"crash": ("waits", f"echo x >>{tmp_path}/runs; echo 'Fatal error: Index out of range'; exit 1")})
    assert (tmp_path / "runs").read_text() == "x\n" and "repeats" not in results["crash"]


def test_a_swift_test_that_fails_next_to_an_expected_crash_is_repeated(tmp_path):
    """A failed Swift test is repeated although the log contains `Fatal error:`, which tests of crashes print on purpose."""

    def event(kind, **payload):
        return json.dumps({"kind": "event", "payload": {"kind": kind, "testID": "M.S/a()/F.swift:1:1", "instant": {"absolute": 1.0}, **payload}})

    passes = f"test -e {tmp_path}/tried"
    stream = [json.dumps({"kind": "test", "payload": {"kind": "function", "id": "M.S/a()/F.swift:1:1"}}), event("testStarted")]
    failed = [event("issueRecorded", issue={"isFailure": True}, messages=[{"text": "late"}]), event("testEnded")]
    (tmp_path / "failed").write_text("\n".join(stream + failed))
    (tmp_path / "passed").write_text("\n".join([*stream, event("testEnded")]))
    program = tmp_path / "program"
    program.write_text(f"""#!/bin/sh
echo 'Fatal error: as a trap does'
if {passes}; then cp {tmp_path}/passed "$1"; exit 0; fi
touch {tmp_path}/tried; cp {tmp_path}/failed "$1"; exit 1
""")
    program.chmod(0o755)
    (tmp_path / "jobs").write_text(f"suite\tunit\twaits\t{tmp_path}/unit.jsonl\t{program}\t{tmp_path}/unit.jsonl\n")
    subprocess.run([sys.executable, LIBRARY / "jobs.py", tmp_path / "jobs", tmp_path / "results"], check=True, timeout=60)
    results = json.loads((tmp_path / "results").read_text())
    assert results["repeats"] == {"M.S a()": {"runs": 2, "passed": True}}, results


def test_with_more_than_five_failed_cases_none_is_repeated(run_jobs, tmp_path):
    """If more than five cases fail, none is repeated."""
    results = run_jobs({f"bad{n}": ("waits", f"echo x >>{tmp_path}/runs; exit 1") for n in range(6)})
    assert len((tmp_path / "runs").read_text().split()) == 6 and {line["status"] for line in results.values()} == {1}


def test_only_the_failed_case_of_a_file_is_repeated(run_jobs, tmp_path):
    (tmp_path / "test_two.py").write_text(f"""import pathlib
import pytest

def test_good():
    with open("{tmp_path}/good", "a") as file: file.write("x")

@pytest.mark.parametrize("case", ["a b", "c"])
def test_late(case):
    seen = pathlib.Path("{tmp_path}", case)
    if not seen.exists():
        seen.touch()
        assert case == "c"
""")
    (tmp_path / "run").write_text(f'#!/bin/sh\ncd {tmp_path} && exec {sys.executable} -m pytest -p no:cacheprovider "$@"\n')
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "jobs").write_text(f"suite\ttwo\twaits\t{tmp_path}/two.xml\t{tmp_path}/run\t--junit-xml\t{tmp_path}/two.xml\ttest_two.py\n")
    subprocess.run([sys.executable, LIBRARY / "jobs.py", tmp_path / "jobs", tmp_path / "results"], check=True, timeout=60)
    line = json.loads((tmp_path / "results").read_text())
    assert line["repeats"] == {"test_two test_late[a b]": {"runs": 2, "passed": True}} and (tmp_path / "good").read_text() == "x"


def test_waiting_jobs_run_at_the_same_time_and_exact_ones_do_not(run_jobs, tmp_path):
    """With one core, jobs of kind `waits` run in parallel, and jobs of each other kind run one after the other."""
    log = tmp_path / "log"
    both = f"echo + >>{log}; sleep 0.5; echo - >>{log}"
    run_jobs({"one": ("waits", both), "two": ("waits", both)}, "--cores", "1")
    assert log.read_text().split() == ["+", "+", "-", "-"]
    for kind in ("exact", "parallel", "guest", "computes"):
        log.unlink()
        run_jobs({"one": (kind, both), "two": (kind, both)}, "--cores", "1")
        assert log.read_text().split() == ["+", "-", "+", "-"], kind


def test_an_emulated_machine_leaves_a_core_to_jobs_that_wait(run_jobs, tmp_path):
    """With two cores, a second machine starts when no other job waits for its start."""
    log = tmp_path / "log"
    machine, other = f"echo + >>{log}; sleep 0.5; echo - >>{log}", f"echo . >>{log}"
    run_jobs({"one": ("guest", machine), "two": ("browser", machine), **{str(n): ("waits", f"sleep 0.2; {other}") for n in range(12)}},
             "--cores", "2")
    said = log.read_text().split()
    assert said[0] == "+" and said.index(".") < said.index("-") and said.count("+") == 2
    log.unlink()
    run_jobs({"one": ("guest", machine), "two": ("browser", machine)}, "--cores", "2")
    assert log.read_text().split() == ["+", "+", "-", "-"]


def test_computing_jobs_come_first_and_exact_ones_last(run_jobs, tmp_path):
    kinds = ["exact", "waits", "guest", "computes", "parallel"]
    run_jobs({kind: (kind, f"echo {kind} >>{tmp_path}/order") for kind in kinds}, "--cores", "1")
    order = (tmp_path / "order").read_text().split()
    assert set(order[:2]) == {"computes", "parallel"} and order[-1] == "exact"


def test_rounds_print_the_failure_rate_of_each_case(run_jobs, tmp_path):
    sometimes = f"echo x >>{tmp_path}/runs; test $(wc -l <{tmp_path}/runs) -ne 2"
    run_jobs({"sometimes": ("waits", sometimes), "good": ("computes", "true")}, "--rounds", "4", "--busy", "1")
    assert "1 of 4 (25 %): suite: sometimes" in run_jobs.said and "good:" not in run_jobs.said


def test_a_job_that_never_ends_is_ended_with_all_that_it_started(run_jobs, tmp_path):
    """A job above its time limit is killed with all its child processes."""
    results = run_jobs({"endless": ("waits", f"sleep 1000 & echo $! >{tmp_path}/child; wait")}, "--limit", "1")
    assert results["endless"]["status"] == 124
    assert has_ended(int((tmp_path / "child").read_text()))


def test_the_longest_job_of_the_last_run_begins_first(run_jobs, tmp_path):
    jobs = {"short": ("guest", f"echo short >>{tmp_path}/order"), "long": ("guest", f"echo long >>{tmp_path}/order; sleep 0.3")}
    options = ["--cores", "1", "--durations", tmp_path / "durations"]
    run_jobs(jobs, *options)
    (tmp_path / "order").unlink()
    run_jobs(jobs, *options)
    assert (tmp_path / "order").read_text().split() == ["long", "short"]


def test_an_interrupted_run_leaves_no_process(tmp_path):
    (tmp_path / "jobs").write_text(f"suite\tslow\twaits\t{tmp_path}/slow.status\tsh\t-c\techo $$ >{tmp_path}/pid; exec sleep 1000\n")
    process = subprocess.Popen([sys.executable, LIBRARY / "jobs.py", tmp_path / "jobs", tmp_path / "results"])
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=40)
    assert has_ended(int((tmp_path / "pid").read_text()))


class Run:
    """Artificial results of a run, and their summary."""

    def __init__(self, folder):
        self._folder, self._lines = folder, []

    def job(self, report, text, status=0, kind="waits", **fields):
        if text is not None:
            (self._folder / report).write_text(text)
        line = {"kind": kind, "suite": "suite", "name": report, "seconds": 1.5, "status": status, "report": str(self._folder / report)}
        self._lines.append(line | fields)
        return self

    def line(self, **fields):
        self._lines.append(fields)
        return self

    def told(self, *options):
        (self._folder / "times").write_text("".join(json.dumps(line) + "\n" for line in self._lines))
        done = subprocess.run(
            [sys.executable, LIBRARY / "results.py", self._folder / "times", *options], capture_output=True, text=True, timeout=20)
        return done.stdout.splitlines()[-1], done.returncode, done.stdout


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_reports_are_counted(run):
    """Passed and skipped cases are counted, and the times of cases are listed."""
    run.job("a.xml", JUNIT.format("one", 2, "")).job("b.xml", JUNIT.format("two", 1, '<skipped message="no kernel"/>'))
    last, status, told = run.told()
    assert (last, status) == ("1 passed, 0 failed, 1 skipped", 0)
    assert "skipped: suite: c two: no kernel" in told
    assert any(line.split() == ["c", "one", "2.0"] for line in told.splitlines())


@pytest.mark.parametrize("text, status, reason", [
    (JUNIT.format("one", 2, '<failure message="no"/>'), 1, "c one: no"),
    (JUNIT.format("one", 2, ""), 1, "a.xml: exit status 1"),
    ("<testsuite/>", 0, "a.xml: no test ran"),
    ("<testsuite", 0, "a.xml: no report"),
    (None, 0, "a.xml: no report"),
], ids=["failure", "bad exit", "nothing ran", "broken report", "no report"])
def test_a_run_that_did_not_end_well_has_failed(run, text, status, reason):
    """A failed case, a bad exit status, and an empty, broken or missing report count as failures."""
    last, code, told = run.job("a.xml", text, status).told()
    assert ", 1 failed," in last and code == 1 and f"failed: suite: {reason}" in told


def test_a_case_that_passed_alone_is_flaky_and_the_run_passes(run):
    """A case that fails once and then passes while no other job runs is flaky, and the run passes."""
    failed = JUNIT.format("one", 9, '<failure message="not within 5 s"/>')
    last, code, told = run.job("a.xml", failed, 1, repeats={"c one": {"runs": 2, "passed": True}}).job("b.xml", JUNIT.format("two", 1, "")).told()
    assert (last, code) == ("1 passed, 0 failed, 0 skipped", 0)
    assert "flaky: suite: c one (passed 1 of 2): not within 5 s" in told and "0 failed, 0 skipped, 1 flaky" in told


def test_a_case_that_failed_again_alone_has_failed(run):
    """A case that fails again while no other job runs fails the run."""
    failed = JUNIT.format("one", 9, '<failure message="no"/>')
    last, code, told = run.job("a.xml", failed, 1, repeats={"c one": {"runs": 3, "passed": False}}).told()
    assert (last, code) == ("0 passed, 1 failed, 0 skipped", 1) and "failed: suite: c one (failed 3 of 3): no" in told


def test_more_than_five_flaky_cases_fail_the_run(run):
    failed = JUNIT.format("one", 9, '<failure message="no"/>')
    run.job("good.xml", JUNIT.format("two", 1, ""))
    for n in range(6):
        run.job(f"{n}.xml", failed, 1, repeats={"c one": {"runs": 2, "passed": True}})
    last, code, told = run.told()
    assert (last, code) == ("1 passed, 1 failed, 0 skipped", 1) and "6 cases are flaky, and a run may have 5" in told


def test_a_crash_costs_the_test_that_it_interrupted(run):
    """A crash counts as a failure of the interrupted test."""
    def event(kind, **payload):
        return json.dumps({"kind": "event", "payload": {"kind": kind, "instant": {"absolute": 1.0}, **payload}})

    tests = [json.dumps({"kind": "test", "payload": {"kind": "function", "id": f"M.S/{name}/F.swift:1:1"}}) for name in "ab"]
    stream = [*tests, event("testStarted", testID="M.S/a/F.swift:1:1"), event("testEnded", testID="M.S/a/F.swift:1:1"),
              event("testStarted", testID="M.S/b/F.swift:1:1")]
    last, code, told = run.job("a.jsonl", "\n".join(stream), 132).told()
    assert (last, code) == ("1 passed, 1 failed, 0 skipped", 1)
    assert "M.S b: the run ended during this test" in told


@pytest.mark.parametrize("kind", ["parallel", "computes", "guest", "browser", "waits", "exact"])
def test_jobs_of_every_kind_are_counted(run, kind):
    """Jobs of every kind are counted."""
    assert run.job("a.xml", JUNIT.format("one", 2, ""), kind=kind).told()[0] == "1 passed, 0 failed, 0 skipped"


def test_a_phase_that_failed_fails_the_run(run):
    run.job("a.xml", JUNIT.format("one", 2, "")).line(kind="phase", name="building", seconds=3, status=1)
    assert run.told()[:2] == ("1 passed, 1 failed, 0 skipped", 1)


def test_times_are_compared_with_an_earlier_run(run, tmp_path):
    run.job("a.xml", JUNIT.format("one", 2, "")).line(kind="phase", name="building", seconds=30, status=0)
    (tmp_path / "earlier").write_text('{"kind": "phase", "name": "building", "seconds": 60, "status": 0}\n')
    assert any(line.split() == ["building", "30.0", "60.0"] for line in run.told("--compare", tmp_path / "earlier")[2].splitlines())
