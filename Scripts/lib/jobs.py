"""Runs the jobs of the test suites in three phases, and repeats each test case that failed.

usage: jobs.py JOBS RESULTS [--limit SECONDS] [--durations FILE] [--cores N]
       jobs.py JOBS RESULTS --rounds N [--busy CORES] ...

JOBS has one job per line, with fields separated by tabs: suite, name, kind, report, and the command's words. The first phase runs
jobs that compute, on one core or on all. The second phase runs jobs that wait for sockets, timers and processes, as many at once as the
cores can serve: COST is the processor time that each kind uses. Virtual machines and browsers start first, but leave a core to the other
jobs as long as there are any. The last phase runs exact jobs, whose tests depend on the clock, one at a time. In each phase the
longest job starts first. FILE has the durations of the previous run; a job that is not in FILE starts before those that are.

After all phases, each test case that failed runs again alone, at most twice. A crash is not repeated, and nothing is repeated if more than
five cases failed, because the run has then failed anyway.

RESULTS gets one line of JSON per job: suite, name, kind, seconds, status, report, and `repeats`, which has the number of runs of each
repeated case and whether its last run passed. A job's output goes next to its report, with the ending .log, and is shown when the job
fails. A job that runs longer than the limit is ended and has failed.

With --rounds, all jobs run N times, no case is repeated, and the failure rate of each case that failed is printed. --busy CORES keeps that
many cores busy during the runs. The exit status is 1 if any case failed.
"""

import argparse
import collections
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from reports import FAILED, JOB_KINDS, cases_of

UNKNOWN = 1e6  # seconds that a job without a recorded duration is assumed to take
GRACE = 20  # seconds between SIGTERM, on which a job ends its processes, and SIGKILL
SHOWN = 200  # the maximum number of last lines that are printed from the output of a job that failed
REPEATED = 5  # if more cases failed, none is repeated
ATTEMPTS = 2  # after the first run
REPEATED_SECONDS = 900  # after this time no further case is repeated
PHASES = [("parallel", "computes"), ("guest", "browser", "waits"), ("exact",)]
CORE = 10  # the unit of COST is a tenth of a core
# None means all cores. An emulated machine and a browser compute all the time, and a test that waits for a fifth of its time.
COST = dict(zip(JOB_KINDS, (None, CORE, CORE, CORE, 2, None), strict=True))


class Job:
    def __init__(self, line):
        self.suite, self.name, self.kind, report, *self.command = line.rstrip("\n").split("\t")
        self._place(report)
        self.repeats = {}
        self.process, self._stopped, self._lock = None, False, threading.Lock()
        if self.kind not in COST:
            raise SystemExit(f"error: {self.name}: unknown kind of job: {self.kind}")

    def _place(self, report):
        self.report = pathlib.Path(report)
        self.log = self.report.with_suffix(".log")

    def alone(self, case, attempt):
        """Returns a job that runs only this case, or the complete job if its command cannot select a case."""
        job = copy.copy(self)
        job.process, job._stopped, job._lock = None, False, threading.Lock()
        job._place(self.report.with_stem(f"{self.report.stem}-again{len(self.repeats)}.{attempt}"))
        job.command = [word.replace(str(self.report), str(job.report)) for word in self.command]
        if case.selector and job.report.suffix == ".jsonl":
            job.command = without_options(job.command, "--filter", "--skip") + ["--filter", case.selector]
        elif case.selector and job.command[-1].endswith(".py"):
            first = next(number for number, word in enumerate(job.command) if word.endswith(".py"))
            job.command[first:] = [case.selector]
        return job

    def cases(self, status, seconds):
        return cases_of({"name": self.name, "report": str(self.report), "status": status, "seconds": seconds})

    @property
    def key(self):
        return f"{self.suite}/{self.name}"

    def run(self, limit):
        """Runs the command for at most `limit` seconds. Returns its exit status (124 after the limit) and its duration in seconds."""
        self.report.unlink(missing_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        with open(self.log, "wb") as log:
            with self._lock:
                if self._stopped:
                    return 128 + signal.SIGTERM, 0.0
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = self.process.wait(limit)
            except subprocess.TimeoutExpired:
                self.stop()
                log.write(f"\nerror: ended after {limit:g} s, longer than a job may take\n".encode())
                status = 124
        return status, time.monotonic() - began

    def stop(self):
        """Ends the job and its process group, or prevents a start."""
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


def read_durations(file):
    """Returns the duration of each job in the previous run, in seconds."""
    try:
        return {key: float(value) for key, value in json.loads(file.read_text()).items()}
    except (AttributeError, OSError, ValueError):
        return {}


def order(job, durations):
    """Returns a value that is higher for jobs that must start earlier."""
    return COST[job.kind] == CORE, durations.get(job.key, UNKNOWN)


def write_durations(file, seconds):
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(seconds, indent=0, sort_keys=True))
    written.replace(file)


class Run:
    """One run of all jobs. `ended` has (job, exit status, seconds) of each job that ended."""

    def __init__(self, jobs, cores, limit):
        self._jobs, self._capacity, self._limit = jobs, CORE * cores, limit
        self._changed = threading.Condition()
        self._running = set()
        self._free = self._capacity
        self._stopped = False
        self.ended = []

    def phases(self):
        for kinds in PHASES:
            waiting = [job for job in self._jobs if job.kind in kinds]
            with self._changed:
                while (waiting or self._running) and not self._stopped:
                    job = self._next(waiting)
                    if job is None:
                        self._changed.wait(0.5)  # Python handles signals between two waits.
                        continue
                    waiting.remove(job)
                    self._running.add(job)
                    self._free -= self._cost(job)
                    threading.Thread(target=self._work, args=(job,), daemon=True).start()

    def _next(self, waiting):
        """Returns the next job that can start now, or None."""
        reserved = CORE if self._capacity > CORE and any(self._cost(job) < CORE for job in waiting) else 0
        for job in waiting:
            cost = self._cost(job)
            heavy = sum(self._cost(running) for running in self._running if self._cost(running) >= CORE)
            if cost <= self._free and (cost < CORE or heavy + cost <= self._capacity - reserved):
                return job
        return None

    def _cost(self, job):
        return min(self._capacity, COST[job.kind] or self._capacity)

    def _work(self, job):
        status, seconds = job.run(self._limit)
        with self._changed:
            self._running.discard(job)
            self._free += self._cost(job)
            if not self._stopped:
                self.ended.append((job, status, seconds))
                self._show(job, status, seconds)
                word = "FAILED" if status else "passed"
                left = len(self._jobs) - len(self.ended)
                print(f"{word}: {job.suite} {job.name} ({seconds:.0f} s, {left} to go)", flush=True)
            self._changed.notify_all()

    def failures(self):
        return [(job, case) for job, *ended in self.ended for case in job.cases(*ended) if case.outcome == FAILED]

    def repeat(self):
        """Runs each failed case again, alone, until it passes."""
        failures = self.failures()
        if len(failures) > REPEATED:
            print(f"{len(failures)} cases failed: none is repeated", flush=True)
            return
        deadline = time.monotonic() + REPEATED_SECONDS
        for job, case in failures:
            for attempt in range(1, ATTEMPTS + 1):
                if case.crashed or time.monotonic() > deadline:
                    break
                passed = self._passes_alone(job, case, attempt)
                job.repeats[case.name] = {"runs": attempt + 1, "passed": passed}
                if passed:
                    break

    def _passes_alone(self, job, case, attempt):
        again = job.alone(case, attempt)
        ended = []
        thread = threading.Thread(target=lambda: ended.extend(again.run(self._limit)), daemon=True)
        self._running.add(again)
        thread.start()
        while thread.is_alive():
            thread.join(0.5)
        self._running.discard(again)
        status, seconds = ended
        passed = status == 0 and all(found.outcome != FAILED for found in again.cases(status, seconds))
        self._show(again, status, seconds)
        print(f"{'passed' if passed else 'FAILED'}, alone: {job.suite} {case.name} ({seconds:.0f} s)", flush=True)
        return passed

    def stop(self):
        """Ends all running jobs. A signal handler calls this on the main thread, during its wait."""
        self._stopped = True
        for job in list(self._running):
            job.stop()

    @staticmethod
    def _show(job, status, seconds):
        """Prints the end of a failed job's output, and its failed cases, whose output may be long before that end."""
        if status == 0:
            return
        print(*job.log.read_text(errors="replace").splitlines()[-SHOWN:], sep="\n")
        failed = [case for case in job.cases(status, seconds) if case.outcome == FAILED]
        print(*(f"  {case.name}: {case.reason}" for case in failed), sep="\n", flush=True)

    def write(self, results):
        with open(results, "a", encoding="utf-8") as file:
            for job, status, seconds in self.ended:
                line = {
                    "suite": job.suite, "name": job.name, "kind": job.kind, "seconds": round(seconds, 3), "status": status,
                    "report": str(job.report),
                }
                if job.repeats:
                    line["repeats"] = job.repeats
                file.write(json.dumps(line) + "\n")


def failure_rates(rounds, new_run, busy):
    """Runs all jobs `rounds` times and prints the failure rate of each case that failed. Returns the number of such cases."""
    counts, reasons = collections.Counter(), {}
    loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        for number in range(1, rounds + 1):
            run = new_run()
            run.phases()
            failures = run.failures()
            for job, case in failures:
                counts[f"{job.suite}: {case.name}"] += 1
                reasons[f"{job.suite}: {case.name}"] = case.reason
            print(f"round {number} of {rounds}: {len(failures)} failed", flush=True)
    finally:
        for load in loads:
            load.kill()
    for name, count in counts.most_common():
        print(f"{count} of {rounds} ({100 * count / rounds:.0f} %): {name}: {reasons[name]}")
    return len(counts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs")
    parser.add_argument("results")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--durations", type=pathlib.Path)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    durations = read_durations(options.durations)
    run = None

    def new_run():
        nonlocal run
        with open(options.jobs, encoding="utf-8") as file:
            run = Run(sorted(map(Job, file), key=lambda job: order(job, durations), reverse=True), options.cores, options.limit)
        return run

    def end(number, _):
        if run:
            run.stop()
        sys.exit(128 + number)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    if options.rounds:
        sys.exit(failure_rates(options.rounds, new_run, options.busy) > 0)
    new_run().phases()
    run.repeat()
    run.write(options.results)
    if options.durations:
        write_durations(options.durations, durations | {job.key: round(seconds, 1) for job, _, seconds in run.ended})


main()
