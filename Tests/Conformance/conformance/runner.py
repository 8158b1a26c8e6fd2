"""Runs criteria in parallel, each with its own target, peer and namespaces."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from dataclasses import dataclass, replace

from deadlines import TooLate

from conformance.address_bench import AddressBench
from conformance.bench import Bench
from conformance.criterion import FAIL, PASS, UNJUDGED, WARN, Criterion, Judgement, all_criteria
from conformance.sleep_bench import SleepBench
from conformance.targets import LACKING, TARGETS

BENCHES = {"naming": Bench, "addressing": AddressBench, "sleep-proxy": SleepBench}
BROKE = "the test itself failed"
# The number of criteria of a phase that run at the same time. Criteria mostly wait. On two cores, a larger number would
# delay the targets.
AT_ONCE = {"naming": 14, "addressing": 14, "sleep-proxy": 10}
# Limits how many criteria create their namespaces at the same time, because this delays the criteria that already run.
MADE_AT_ONCE = multiprocessing.get_context("fork").BoundedSemaphore(3)


@dataclass(frozen=True)
class Result:
    criterion: str
    target: str
    verdict: str
    reason: str
    packet: str  # The packet that decided the result, or an empty string.
    seconds: float

    @property
    def passed(self):
        return self.verdict == PASS


def judge_once(criterion, target, programs, altered):
    """Tests a criterion once and turns every exception into a verdict. Returns the verdict, the reason and the packet as text."""
    bench, began = None, 0.0
    try:
        bench = made_bench(BENCHES[criterion.phase], os.getpid(), TARGETS[target], programs, criterion if altered else None)
        judgement = criterion.judge(bench)
    except Judgement as early:
        judgement = early
    except TooLate as late:
        # A timeout before the bench is complete is reported as a failure of the test, not of the target.
        judgement = Judgement(FAIL, ("" if bench else f"{BROKE}: ") + str(late).splitlines()[0])
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        judgement = Judgement(
            FAIL, f"{BROKE} in {place.name}, line {place.lineno}: {type(error).__name__}: {error}")
    finally:
        if bench:
            began = bench.began or 0.0
            bench.close()
    shown = judgement.packet.shown(began) if judgement.packet else ""
    return judgement.verdict, str(judgement), shown


def made_bench(kind, *arguments):
    """Creates a bench in up to three attempts: on a busy machine, creating namespaces may time out, which is not a
    fault of the target."""
    with MADE_AT_ONCE:
        for _ in range(2):
            try:
                return kind(*arguments)
            except TooLate:
                continue
        return kind(*arguments)


def judge(name, target, programs, altered):
    begin = time.monotonic()
    criterion: Criterion = all_criteria()[name]
    missing = criterion.needs - TARGETS[target].abilities
    if missing:
        return Result(name, target, UNJUDGED, f"{target} {LACKING[min(missing)]}", "", 0.0)
    verdict, reason, packet = judge_once(criterion, target, programs, altered)
    # With an alteration, a verdict other than pass is expected and not retried.
    for attempt in range(2, 2 + (0 if altered else criterion.retried)):
        if verdict in (PASS, UNJUDGED):
            break
        again = judge_once(criterion, target, programs, altered)
        if again[0] == PASS or (again[0], verdict) == (WARN, FAIL):
            verdict, reason, packet = again[0], f"{again[1]} (at try {attempt})", again[2]
    return Result(name, target, verdict, reason, packet, time.monotonic() - begin)


def run(work, programs, altered=False):
    """Runs `work`, pairs of a criterion's name and a target, and yields the results in the order of completion."""
    criteria = all_criteria()
    work = sorted(work, key=lambda pair: -criteria[pair[0]].seconds)
    with contextlib.ExitStack() as stack:
        # Each worker process tests one criterion at a time. Separate processes are needed because the peer has threads.
        pools = {phase: stack.enter_context(concurrent.futures.ProcessPoolExecutor(
            count, multiprocessing.get_context("fork"), initializer=end_with_parent, max_tasks_per_child=None))
            for phase, count in AT_ONCE.items()}
        waiting = {pools[criteria[name].phase].submit(judge, name, target, programs, altered): (name, target)
                   for name, target in work}
        for done in concurrent.futures.as_completed(waiting):
            name, target = waiting[done]
            try:
                yield done.result()
            except Exception as error:
                yield Result(name, target, FAIL, f"{BROKE}: {error!r}", "", 0.0)


def end_with_parent():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def proven(result):
    """Inverts the result of a run with the alteration: the result passes if the criterion noticed the alteration."""
    criterion = all_criteria()[result.criterion]
    if result.verdict == UNJUDGED:
        return result
    seen = result.verdict == criterion.worst or result.verdict == FAIL
    seen = seen and not result.reason.startswith(BROKE)
    where = "on an altered host" if criterion.proof.in_host else "behind the proxy"
    told = f"{where} ({criterion.proof.told}): {result.verdict}: {result.reason}"
    return replace(result, verdict=PASS if seen else FAIL, reason=told)
