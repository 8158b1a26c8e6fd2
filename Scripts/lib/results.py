"""Prints a summary of a test run: failures, durations and totals. Exits with 1 if something failed or nothing passed.

usage: results.py TIMES [--compare FILE]

TIMES has a line of JSON for each timed step; its `kind` is
    phase           name, seconds
    compiled, cached, linked   a module: name, part (library, module or test), seconds, processor (seconds)
    job kinds       the kinds of jobs.py: suite, name, seconds, status, report; repeats: the runs of each case that failed
    skipped         a suite that cannot run here
This program appends a line for each test case (`case`: suite, name, seconds). Scripts/lib/reports.py reads the jobs' reports.

A case that failed and then passed alone is flaky. Flaky cases are listed, and fail the run only if there are more than five.
"""

import argparse
import collections
import json
import pathlib
import sys
import typing

from reports import FAILED, FLAKY, JOB_KINDS, PASSED, SKIPPED, Case, cases_of

SLOWEST = 10
FLAKY_LIMIT = 5


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(map(json.loads, file))


class Row(typing.NamedTuple):
    """One row of the table of durations."""

    name: str
    seconds: float
    remark: str = ""


def rows(lines, cases):
    """Yields rows for the phases, the compilers, the suites, and each suite's slowest cases."""
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
    for suite, jobs in grouped(line for line in lines if line["kind"] in JOB_KINDS):
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


def judge(suite, case, repeats, remarks):
    """Marks a failed case as flaky if it passed alone, and adds a remark for each case that did not pass."""
    runs = repeats.get(case.name) if case.outcome == FAILED else None
    if runs and runs["passed"]:
        case.outcome = FLAKY
        remarks[FLAKY].append(f"flaky: {suite}: {case.name} (passed 1 of {runs['runs']}): {case.reason}")
    elif case.outcome != PASSED:
        again = f" (failed {runs['runs']} of {runs['runs']})" if runs else ""
        remarks[case.outcome].append(f"{case.outcome}: {suite}: {case.name}{again}: {case.reason}")


def flaky(counts):
    return f", {counts[FLAKY]} flaky" if counts[FLAKY] else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    lines = read(options.times)
    totals, cases = collections.Counter(), collections.defaultdict(list)
    totals[SKIPPED] = sum(line["kind"] == "skipped" for line in lines)
    # Remarks are listed by outcome with the failures last, because a truncated log loses its middle.
    told, remarks = [], {SKIPPED: [], FLAKY: [], FAILED: []}
    for suite, jobs in grouped(line for line in lines if line["kind"] in JOB_KINDS):
        counts = collections.Counter()
        for job in jobs:
            for case in cases_of(job):
                judge(suite, case, job.get("repeats", {}), remarks)
                cases[suite].append(case)
                counts[case.outcome] += 1
        told.append(f"{suite}: {counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped" + flaky(counts))
        totals += counts
    failed_phases = [line["name"] for line in lines if line["kind"] == "phase" and line.get("status", 0)]
    totals[FAILED] += len(failed_phases)
    if totals[FLAKY] > FLAKY_LIMIT:
        told.append(f"failed: {totals[FLAKY]} cases are flaky, and a run may have {FLAKY_LIMIT}")
        totals[FAILED] += 1
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
    print(*(line for lines in remarks.values() for line in lines), *told, sep="\n")
    for name in failed_phases:
        print(f"{name}: failed")
    print(f"{totals[PASSED]} passed, {totals[FAILED]} failed, {totals[SKIPPED]} skipped")
    sys.exit(totals[FAILED] > 0 or totals[PASSED] == 0)


main()
