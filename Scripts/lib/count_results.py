"""Counts the tests in JUnit XML reports: passed, failed, skipped, a number a line. Skips are told on standard error."""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def cases(path):
    """The test cases of a report; none when it is missing or cut short, which the caller judges by the exit status."""
    try:
        return list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in (case for path in sys.argv[1:] for case in cases(path)):
        result = outcome(case)
        counts[result] += 1
        if result == "skipped":
            reason = case.find("skipped").get("message") or "no reason given"
            print(f"skipped: {case.get('classname')} {case.get('name')}: {reason}", file=sys.stderr)
    print(*counts.values(), sep="\n")


main()
