"""Runs the jobs of the test suites beside each other: those that wait in several lanes, those that compute in one more.

usage: lanes.py JOBS RESULTS [--lanes N] [--limit SECONDS] [--durations FILE]

JOBS has one job a line, fields parted by tabs: suite, name, kind, report, and the command's words. A job of the kind `waits` runs in any
of the N lanes, and `exact`, which is judged by the clock, in the first of them. `computes` runs in a lane of its own with the
scheduler's idle policy, so that it takes only the time that the others leave. The longest job starts first, by the durations of
the run before, which FILE keeps; a job that is not there counts as long.

When all jobs have ended, each test case that failed runs again alone, at most twice. A crash is not repeated, and nothing is where more
than five cases failed: the run has failed then in any case.

RESULTS gets one line of JSON for each job: suite, name, kind, seconds, status, report, and `repeats`: for each case that ran again how
often it ran in all and whether it passed at last. A job's output goes to its report's place with the ending .log, and is shown when the
job fails. A job that runs longer than the limit is ended and has failed; one that computes has three times as long, because the
others go first.
"""

import argparse
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from reports import FAILED, cases_of

UNKNOWN = 1e6  # seconds
GRACE = 20  # seconds between SIGTERM, on which a job takes down its world, and SIGKILL
SHOWN = 200  # lines of the output of a job that failed
REPEATED = 5  # cases: with more flaky ones the run fails
ATTEMPTS = 2  # after the first run
REPEATED_SECONDS = 900  # after which no further case is repeated
STARVED = 3  # limits that a job has which computes


class Job:
    def __init__(self, line):
        self.suite, self.name, self.kind, report, *self.command = line.rstrip("\n").split("\t")
        self._place(report)
        self.repeats = {}
        self.process, self._stopped, self._lock = None, False, threading.Lock()
        if self.kind not in ("waits", "exact", "computes"):
            raise SystemExit(f"error: {self.name}: there is no kind of job called {self.kind}")

    def _place(self, report):
        self.report = pathlib.Path(report)
        self.log = self.report.with_suffix(".log")

    def alone(self, case, attempt):
        """The job that runs only this case, or all of this job where a case cannot be chosen."""
        job = copy.copy(self)
        job.process, job._stopped, job._lock = None, False, threading.Lock()
        job._place(self.report.with_stem(f"{self.report.stem}-again{len(self.repeats)}.{attempt}"))
        job.command = [word.replace(str(self.report), str(job.report)) for word in self.command]
        if case.selector and job.report.suffix == ".jsonl":
            job.command = without_options(job.command, "--filter", "--skip") + ["--filter", case.selector]
        elif case.selector and job.command[-1].endswith(".py"):
            job.command[-1] = case.selector
        return job

    def cases(self, status, seconds):
        return cases_of({"name": self.name, "report": str(self.report), "status": status, "seconds": seconds})

    @property
    def key(self):
        return f"{self.suite}/{self.name}"

    def run(self, limit):
        """Its exit status and how long it took, in seconds."""
        if self.kind == "computes":
            limit *= STARVED
        self.report.unlink(missing_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        with open(self.log, "wb") as log:
            with self._lock:
                if self._stopped:
                    return 128 + signal.SIGTERM, 0.0
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                    preexec_fn=self._give_way if self.kind == "computes" else None)
            try:
                status = self.process.wait(limit)
            except subprocess.TimeoutExpired:
                self.stop()
                log.write(f"\nerror: ended after {limit} s, longer than a job may take\n".encode())
                status = 124
        return status, time.monotonic() - began

    @staticmethod
    def _give_way():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def stop(self):
        """Ends the job and all that it started, or keeps it from starting."""
        with self._lock:
            self._stopped = True
        if self.process is None or self.process.poll() is not None:
            return
        self._signal(signal.SIGTERM)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self.process.wait()

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def without_options(words, *options):
    """The words of a command without these options and their values."""
    return [word for before, word in zip([None, *words], words) if word not in options and before not in options]


def in_threads(calls):
    """Makes the calls beside each other. The main thread only waits, so that a signal can interrupt it anywhere."""
    threads = [threading.Thread(target=call, args=arguments, daemon=True) for call, *arguments in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)


class Durations:
    """How long each job took last."""

    def __init__(self, file):
        self._file = file and pathlib.Path(file)
        try:
            self._seconds = {key: float(value) for key, value in json.loads(self._file.read_text()).items()}
        except (AttributeError, OSError, ValueError):
            self._seconds = {}

    def of(self, job):
        return self._seconds.get(job.key, UNKNOWN)

    def keep(self, seconds):
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        written = self._file.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(self._seconds | seconds, indent=0, sort_keys=True))
        written.replace(self._file)


class Lanes:
    def __init__(self, jobs, lanes, limit, results):
        self._waiting = jobs
        self._lanes, self._limit, self._results = lanes, limit, results
        self._lock = threading.Lock()
        self._running = set()
        self._stopped = False
        self._left = len(jobs)
        self._failed = []
        self.seconds = {}

    def run(self):
        lanes = [("exact", "waits")] + [("waits",)] * (self._lanes - 1) + [("computes",)]
        in_threads((self._work, kinds) for kinds in lanes)
        in_threads([(self._repeat,)])
        for job, status, seconds in self._failed:
            self._note(job, status, seconds)

    def _repeat(self):
        """Runs the cases that failed again, each alone, until it passes."""
        failures = [(job, case) for job, *ended in self._failed for case in job.cases(*ended) if case.outcome == FAILED]
        if len(failures) > REPEATED:
            print(f"{len(failures)} cases failed: none is repeated", flush=True)
            return
        deadline = time.monotonic() + REPEATED_SECONDS
        for job, case in failures:
            for attempt in range(1, ATTEMPTS + 1):
                if case.crashed or self._stopped or time.monotonic() > deadline:
                    break
                passed = self._runs_alone(job, case, attempt)
                job.repeats[case.name] = {"runs": attempt + 1, "passed": passed}
                if passed:
                    break

    def _runs_alone(self, job, case, attempt):
        again = job.alone(case, attempt)
        with self._lock:
            self._running.add(again)
        status, seconds = again.run(self._limit)
        with self._lock:
            self._running.discard(again)
        passed = status == 0 and all(found.outcome != FAILED for found in again.cases(status, seconds))
        self._show(again, status)
        print(f"{'passed' if passed else 'FAILED'}, alone: {job.suite} {case.name} ({seconds:.0f} s)", flush=True)
        return passed

    def stop(self):
        with self._lock:
            self._stopped, running = True, list(self._running)
        for job in running:
            job.stop()

    def _next(self, kinds):
        with self._lock:
            # A lane for exact jobs takes these first.
            for kind in kinds:
                for job in self._waiting:
                    if job.kind == kind and not self._stopped:
                        self._waiting.remove(job)
                        self._running.add(job)
                        return job
        return None

    def _work(self, kinds):
        while job := self._next(kinds):
            status, seconds = job.run(self._limit)
            with self._lock:
                self._running.discard(job)
                if not self._stopped:
                    self._tell(job, status, seconds)

    def _tell(self, job, status, seconds):
        self._left -= 1
        self._show(job, status)
        print(f"{'FAILED' if status else 'passed'}: {job.suite} {job.name} ({seconds:.0f} s, {self._left} to go)", flush=True)
        if status:
            self._failed.append((job, status, seconds))
        else:
            self._note(job, status, seconds)

    @staticmethod
    def _show(job, status):
        if status != 0:
            lines = job.log.read_text(errors="replace").splitlines()
            print(*lines[-SHOWN:], sep="\n", flush=True)

    def _note(self, job, status, seconds):
        self.seconds[job.key] = round(seconds, 1)
        line = {
            "suite": job.suite, "name": job.name, "kind": job.kind, "seconds": round(seconds, 3), "status": status,
            "report": str(job.report),
        }
        if job.repeats:
            line["repeats"] = job.repeats
        with open(self._results, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs")
    parser.add_argument("results")
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--durations")
    options = parser.parse_args()
    durations = Durations(options.durations)
    with open(options.jobs, encoding="utf-8") as file:
        jobs = sorted(map(Job, file), key=durations.of, reverse=True)
    lanes = Lanes(jobs, options.lanes, options.limit, options.results)

    def end(number, _):
        lanes.stop()
        sys.exit(128 + number)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    lanes.run()
    durations.keep(lanes.seconds)


main()
