"""Counts the tests in reports: passed, failed, skipped, a number a line. Tells of failures and skips on standard error.

A report is JUnit XML (*.xml), or what Swift Testing calls its event stream (*.jsonl). The latter is written as the tests
go, so that a crash costs only the tests it interrupted, and it tells a cancelled test from a passed one.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def junit(path):
    """Yields outcome, name and reasons of each test case."""
    for case in ElementTree.parse(path).iter("testcase"):
        bad = case.findall("failure") + case.findall("error")
        skips = case.findall("skipped")
        outcome = FAILED if bad else SKIPPED if skips else PASSED
        yield outcome, f"{case.get('classname')} {case.get('name')}", [mark.get("message") for mark in bad or skips]


def event_stream(path):
    """Yields outcome, name and reasons of each test function that was to run; one that never ended has failed."""
    functions, reasons, outcomes = {}, {}, {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            payload = record["payload"]
            test = payload.get("testID")
            if record["kind"] == "test" and payload["kind"] == "function":
                functions[payload["id"]] = payload["id"].split("/")
            elif payload["kind"] == "testStarted":
                outcomes.setdefault(test, None)
            elif payload["kind"] in ("testSkipped", "testCancelled"):
                outcomes[test] = SKIPPED
                reasons.setdefault(test, []).extend(texts(payload))
            elif payload["kind"] == "testEnded":
                outcomes[test] = outcomes[test] or PASSED
                if outcomes[test] == SKIPPED:
                    reasons[test] += texts(payload)
            elif payload["kind"] == "issueRecorded" and payload["issue"]["isFailure"]:
                outcomes[test] = FAILED
                reasons.setdefault(test, []).append(f"{place(payload['issue'])}: {' '.join(texts(payload))}")
    for test, outcome in outcomes.items():
        if test is None:  # An issue outside any test.
            yield FAILED, "(no test)", reasons[test]
        elif test in functions:
            name = " ".join(functions[test][:-1])
            yield outcome or FAILED, name, reasons.get(test, []) if outcome else ["the run broke off during this test"]


def texts(payload):
    return [message["text"] for message in payload["messages"]]


def place(issue):
    where = issue.get("sourceLocation")
    return f"{where['fileID']}:{where['line']}" if where else "somewhere"


def cases(path):
    """Nothing when a report is missing or unreadable, which the caller judges by the exit status of the run."""
    try:
        return list(junit(path) if path.endswith(".xml") else event_stream(path))
    except (OSError, ValueError, ElementTree.ParseError) as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return []


def main():
    counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    for outcome, name, reasons in (case for path in sys.argv[1:] for case in cases(path)):
        counts[outcome] += 1
        if outcome != PASSED:
            told = "; ".join((reason or "no reason given").splitlines()[0] for reason in reasons)
            print(f"{outcome}: {name}: {told}", file=sys.stderr)
    print(*counts.values(), sep="\n")


main()
