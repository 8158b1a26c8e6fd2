"""Sums up a run of the tests: the failures, where the time went, and the totals. Exits with 1 where something failed or nothing passed.

usage: results.py TIMES [--compare FILE]

TIMES has a line of JSON for each thing that took time; their `kind` is
    phase           name, seconds
    compiled, cached, linked   a module: name, part (library, module or test), seconds, processor (seconds)
    job kinds       waits, exact, computes: suite, name, seconds, status, report; beside: the report of its run beside others, which failed
    skipped         a suite that cannot run here
and gets one for each test case (`case`: suite, name, seconds). A report is JUnit XML (*.xml), or what Swift Testing calls its event
stream (*.jsonl), which is written as the tests go, so that a crash costs only the tests that it interrupted. A job whose report is
called *.status is one test.
"""

import argparse
import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
JOBS = ("waits", "exact", "computes")
SLOWEST = 10
Case = collections.namedtuple("Case", "outcome name reasons seconds")


def junit(path):
    for case in ElementTree.parse(path).iter("testcase"):
        bad = case.findall("failure") + case.findall("error")
        skips = case.findall("skipped")
        outcome = FAILED if bad else SKIPPED if skips else PASSED
        reasons = [mark.get("message") for mark in bad or skips]
        yield Case(outcome, f"{case.get('classname')} {case.get('name')}", reasons, float(case.get("time") or 0))


def event_stream(path):
    """One case for each test function that was to run; one that never ended has failed."""
    functions, reasons, outcomes, began, seconds = {}, {}, {}, {}, {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            payload = record["payload"]
            test = payload.get("testID")
            if record["kind"] == "test" and payload["kind"] == "function":
                functions[payload["id"]] = payload["id"].split("/")
            elif payload["kind"] == "testStarted":
                outcomes.setdefault(test, None)
                began[test] = payload["instant"]["absolute"]
            elif payload["kind"] in ("testSkipped", "testCancelled"):
                outcomes[test] = SKIPPED
                reasons.setdefault(test, []).extend(texts(payload))
            elif payload["kind"] == "testEnded":
                seconds[test] = payload["instant"]["absolute"] - began.get(test, payload["instant"]["absolute"])
                outcomes[test] = outcomes[test] or PASSED
                if outcomes[test] == SKIPPED:
                    reasons[test] += texts(payload)
            elif payload["kind"] == "issueRecorded" and payload["issue"]["isFailure"]:
                outcomes[test] = FAILED
                reasons.setdefault(test, []).append(f"{place(payload['issue'])}: {' '.join(texts(payload))}")
    for test, outcome in outcomes.items():
        if test is None:  # An issue outside any test.
            yield Case(FAILED, "(no test)", reasons[test], 0)
        elif test in functions:
            name = " ".join(functions[test][:-1])
            told = reasons.get(test, []) if outcome else ["the run broke off during this test"]
            yield Case(outcome or FAILED, name, told, seconds.get(test, 0))


def texts(payload):
    return [message["text"] for message in payload["messages"]]


def place(issue):
    where = issue.get("sourceLocation")
    return f"{where['fileID']}:{where['line']}" if where else "somewhere"


def last_error(report):
    """The last line of a job's output that says error, or else its last line."""
    try:
        lines = pathlib.Path(report).with_suffix(".log").read_text(errors="replace").splitlines()
    except OSError:
        return "no output"
    lines = [line for line in lines if line.strip()] or ["no output"]
    return next((line for line in reversed(lines) if "rror:" in line), lines[-1]).strip()


def cases_of(job):
    """The cases of a job. One that ended badly without a failure in its report, or that reported nothing, is itself a failure."""
    path, status = job["report"], job["status"]
    if path.endswith(".status"):
        return [Case(FAILED if status else PASSED, job["name"], [f"exit status {status}", last_error(path)], job["seconds"])]
    try:
        cases = list(junit(path) if path.endswith(".xml") else event_stream(path))
    except (OSError, ValueError, ElementTree.ParseError) as error:
        cases, reason = [], f"no report: {error}"
    else:
        reason = f"exit status {status}" if cases else "no test ran"
    if not cases or (status and all(case.outcome != FAILED for case in cases)):
        cases.append(Case(FAILED, job["name"], [reason], job["seconds"]))
    return cases


def reason_of(case):
    return "; ".join((reason or "no reason given").splitlines()[0] for reason in case.reasons)


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(map(json.loads, file))


class Row:
    """One row of the table: what, how long, and a remark."""

    def __init__(self, name, seconds, remark=""):
        self.name, self.seconds, self.remark = name, seconds, remark


def rows(lines, cases):
    """The phases, what the compilers did, the suites, and each suite's slowest cases."""
    for line in lines:
        if line["kind"] == "phase":
            yield Row(line["name"], line["seconds"])
    parts = {"library": "libraries", "module": "modules", "test": "tests"}
    for part, name in parts.items():
        made = [line for line in lines if line.get("part") == part]
        compiled = [line for line in made if line["kind"] == "compiled"]
        if made:
            remark = f"{len(compiled)} compiled, {len(made) - len(compiled)} from the cache; seconds of processor"
            yield Row(f"compiling {name}", sum(line["processor"] for line in made), remark)
    linked = [line for line in lines if line["kind"] == "linked"]
    if linked:
        yield Row("linking", sum(line["processor"] for line in linked), f"{len(linked)} programs; seconds of processor")
    for suite, jobs in grouped(line for line in lines if line["kind"] in JOBS):
        yield Row(suite, sum(job["seconds"] for job in jobs), f"{len(jobs)} jobs one after the other" if len(jobs) > 1 else "")
        for case in sorted(cases[suite], key=lambda case: case.seconds, reverse=True)[:SLOWEST]:
            if case.seconds >= 0.5:
                yield Row(f"  {case.name}", case.seconds)


def grouped(jobs):
    suites = collections.defaultdict(list)
    for job in jobs:
        suites[job["suite"]].append(job)
    return suites.items()


def print_table(table, before):
    earlier = {row.name: row.seconds for row in before}
    print(f"{'where the time went':<70} {'seconds':>9}" + (f" {'before':>9}" if before else ""))
    for row in table:
        name = row.name if len(row.name) <= 70 else row.name[:67] + "..."
        line = f"{name:<70} {row.seconds:>9.1f}"
        if before:
            line += f" {earlier[row.name]:>9.1f}" if row.name in earlier else f" {'-':>9}"
        print(line + (f"  {row.remark}" if row.remark else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    lines = read(options.times)
    totals, cases = collections.Counter(), collections.defaultdict(list)
    totals[SKIPPED] = sum(line["kind"] == "skipped" for line in lines)
    told, remarks = [], []
    for suite, jobs in grouped(line for line in lines if line["kind"] in JOBS):
        counts = collections.Counter()
        for case in (case for job in jobs for case in cases_of(job)):
            cases[suite].append(case)
            counts[case.outcome] += 1
            if case.outcome != PASSED:
                remarks.append(f"{case.outcome}: {suite}: {case.name}: {reason_of(case)}")
        for job in jobs:
            if "beside" in job and not job["status"]:
                failures = [case for case in cases_of(job | {"report": job["beside"], "status": 1}) if case.outcome == FAILED]
                remarks += [f"late: {suite}: {case.name}: failed beside other jobs, passed alone: {reason_of(case)}" for case in failures]
        told.append(f"{suite}: {counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped")
        totals += counts
    failed_phases = [line["name"] for line in lines if line["kind"] == "phase" and line.get("status", 0)]
    totals[FAILED] += len(failed_phases)
    with open(options.times, "a", encoding="utf-8") as file:
        for suite, found in cases.items():
            for case in found:
                line = {"kind": "case", "suite": suite, "name": case.name, "seconds": round(case.seconds, 3)}
                file.write(json.dumps(line) + "\n")
    before = []
    if options.compare:
        earlier = read(options.compare)
        kept = collections.defaultdict(list)
        for line in earlier:
            if line["kind"] == "case":
                kept[line["suite"]].append(Case(PASSED, line["name"], [], line["seconds"]))
        before = list(rows(earlier, kept))
    print_table(list(rows(lines, cases)), before)
    # Last, where they are seen: a log that is cut off loses its middle.
    print(*remarks, *told, sep="\n")
    for name in failed_phases:
        print(f"{name}: failed")
    print(f"{totals[PASSED]} passed, {totals[FAILED]} failed, {totals[SKIPPED]} skipped")
    sys.exit(totals[FAILED] > 0 or totals[PASSED] == 0)


main()
