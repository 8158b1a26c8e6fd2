"""Runs the jobs of the test suites beside each other: those that wait in several lanes, those that compute in one more.

usage: lanes.py JOBS RESULTS [--lanes N] [--limit SECONDS] [--durations FILE]

JOBS has one job a line, fields parted by tabs: suite, name, kind, report, and the command's words. A job of the kind `waits` runs in any
of the N lanes, and `exact`, which is judged by the clock, in the first of them. `computes` runs in a lane of its own with the
scheduler's idle policy, so that it takes only the time that the others leave. The longest job starts first, by the durations of
the run before, which FILE keeps; a job that is not there counts as long.

A job that waits and failed runs once more at the end, alone: a machine with too little time for all lanes also makes tests late that
are right. A job with a real fault fails again. None is repeated where many failed or where that would take long.

RESULTS gets one line of JSON for each job: suite, name, kind, seconds, status, report, and `beside` where it ran twice: the report of the
run that failed beside others. A job's output goes to its report's place with the ending .log, and is shown when the job fails. A job that
runs longer than the limit is ended and has failed; one that computes has three times as long, because the others go first.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

UNKNOWN = 1e6  # seconds
GRACE = 20  # seconds between SIGTERM, on which a job takes down its world, and SIGKILL
SHOWN = 200  # lines of the output of a job that failed
REPEATED = 8  # jobs: where more fail, the machine is not the reason
REPEATED_SECONDS = 1500  # all that is repeated took so long at most
STARVED = 3  # limits that a job has which computes


class Job:
    def __init__(self, line):
        self.suite, self.name, self.kind, report, *self.command = line.rstrip("\n").split("\t")
        if self.kind not in ("waits", "exact", "computes"):
            raise SystemExit(f"error: {self.name}: there is no kind of job called {self.kind}")
        self.report = pathlib.Path(report)
        self.log = self.report.with_suffix(".log")
        self.beside = None
        self.process = None

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

    def set_aside(self):
        """Keeps the report and the output of a run, before another one."""
        self.beside = self.report.with_stem(self.report.stem + "-beside")
        self.beside.unlink(missing_ok=True)
        if self.report.exists():
            self.report.rename(self.beside)
        self.log.rename(self.beside.with_suffix(".log"))

    @staticmethod
    def _give_way():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def stop(self):
        """Ends the job and all that it started."""
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
        self._work_in([("exact", "waits")] + [("waits",)] * (self._lanes - 1) + [("computes",)])
        if len(self._failed) > REPEATED or sum(seconds for _, _, seconds in self._failed) > REPEATED_SECONDS:
            for one in self._failed:
                self._note(*one)
            return
        self._waiting = [job for job, _, _ in self._failed]
        self._left = len(self._waiting)
        for job in self._waiting:
            job.set_aside()
        self._work_in([("exact", "waits")])

    def _work_in(self, lanes):
        threads = [threading.Thread(target=self._work, args=(kinds,), daemon=True) for kinds in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)  # Signals are seen in between.

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
        if status != 0:
            lines = job.log.read_text(errors="replace").splitlines()
            print(*lines[-SHOWN:], sep="\n", flush=True)
        word = ("passed" if status == 0 else "FAILED") + (", alone" if job.beside else "")
        print(f"{word}: {job.suite} {job.name} ({seconds:.0f} s, {self._left} to go)", flush=True)
        if status != 0 and job.kind != "computes" and job.beside is None:
            self._failed.append((job, status, seconds))
        else:
            self._note(job, status, seconds)

    def _note(self, job, status, seconds):
        self.seconds[job.key] = round(seconds, 1)
        line = {
            "suite": job.suite, "name": job.name, "kind": job.kind, "seconds": round(seconds, 3), "status": status,
            "report": str(job.report),
        }
        if job.beside:
            line["beside"] = str(job.beside)
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
