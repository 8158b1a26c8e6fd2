"""Reads the reports of test jobs: JUnit XML (*.xml), Swift Testing's event stream (*.jsonl), or only an exit status (*.status).

The event stream is written while the tests run, so after a crash only the results of the interrupted tests are missing.
"""

import dataclasses
import json
import pathlib
import re
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, FLAKY, SKIPPED = "passed", "failed", "flaky", "skipped"
JOB_KINDS = ("parallel", "computes", "guest", "browser", "waits", "exact")
SANITIZER = re.compile(r"(Address|Thread|Leak|UndefinedBehavior)Sanitizer")
CRASH = re.compile(rf"Fatal error:|Program crashed|{SANITIZER.pattern}|SIG(ILL|TRAP|SEGV|BUS|ABRT)\b")


@dataclasses.dataclass
class Case:
    """One test, or a whole job that failed although none of its tests did."""

    outcome: str
    name: str
    reasons: list
    seconds: float
    # The argument with which the job's program runs only this test; None for a whole job.
    selector: str | None = None
    # A crash is a fault on any machine, so the test is not repeated.
    crashed: bool = False

    @property
    def reason(self):
        return "; ".join((reason or "no reason given").splitlines()[0] for reason in self.reasons)


def cases_of(job):
    """Returns the cases of a job (`name`, `report`, `status`, `seconds`). A job that failed without a failed case is itself a failed case."""
    path, status = job["report"], job["status"]
    if path.endswith(".status"):
        cases = [Case(FAILED if status else PASSED, job["name"], [f"exit status {status}", _last_error(path)], job["seconds"])]
    else:
        try:
            cases = list(_junit(path) if path.endswith(".xml") else _event_stream(path))
        except (OSError, ValueError, ElementTree.ParseError) as error:
            cases, reason = [], f"no report: {error}"
        else:
            reason = f"exit status {status}" if cases else "no test ran"
        if not cases or (status and all(case.outcome != FAILED for case in cases)):
            cases.append(Case(FAILED, job["name"], [reason], job["seconds"]))
    # Swift tests that crash another process on purpose print the lines of a crash, so only a sanitizer's report counts for Swift jobs. Their event
    # stream shows which test did not end.
    crash = SANITIZER if path.endswith(".jsonl") else CRASH
    if status < 0 or (status and crash.search(output_of(path))):
        for case in cases:
            case.crashed = True
    return cases


def output_of(report):
    """Returns the output of the job."""
    try:
        return pathlib.Path(report).with_suffix(".log").read_text(errors="replace")
    except OSError:
        return ""


def _junit(path):
    for case in ElementTree.parse(path).iter("testcase"):
        bad = case.findall("failure") + case.findall("error")
        skips = case.findall("skipped")
        outcome = FAILED if bad else SKIPPED if skips else PASSED
        reasons = [mark.get("message") for mark in bad or skips]
        module, _, group = (case.get("classname") or "").partition(".")
        selector = "::".join([f"{module}.py", *filter(None, group.split(".")), case.get("name")])
        yield Case(outcome, f"{case.get('classname')} {case.get('name')}", reasons, float(case.get("time") or 0), selector)


def _event_stream(path):
    """Yields one case for each test function that started. A test that did not end has failed."""
    functions, reasons, outcomes, began, seconds = set(), {}, {}, {}, {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            payload = record["payload"]
            test = payload.get("testID")
            if record["kind"] == "test" and payload["kind"] == "function":
                functions.add(payload["id"])
            elif payload["kind"] == "testStarted":
                outcomes.setdefault(test, None)
                began[test] = payload["instant"]["absolute"]
            elif payload["kind"] in ("testSkipped", "testCancelled"):
                outcomes[test] = SKIPPED
                reasons.setdefault(test, []).extend(_texts(payload))
            elif payload["kind"] == "testEnded":
                seconds[test] = payload["instant"]["absolute"] - began.get(test, payload["instant"]["absolute"])
                outcomes[test] = outcomes[test] or PASSED
                if outcomes[test] == SKIPPED:
                    reasons[test] += _texts(payload)
            elif payload["kind"] == "issueRecorded" and payload["issue"]["isFailure"]:
                outcomes[test] = FAILED
                reasons.setdefault(test, []).append(f"{_place(payload['issue'])}: {' '.join(_texts(payload))}")
    for test, outcome in outcomes.items():
        if test is None:  # An issue outside any test.
            yield Case(FAILED, "(no test)", reasons[test], 0)
        elif test in functions:
            # Module.Suite/function()/File.swift:1:2
            words = test.split("/")[:-1]
            told = reasons.get(test, []) if outcome else ["the run ended during this test"]
            yield Case(
                outcome or FAILED, " ".join(words), told, seconds.get(test, 0), f"^{re.escape('/'.join(words))}/", crashed=outcome is None)


def _texts(payload):
    return [message["text"] for message in payload["messages"]]


def _place(issue):
    where = issue.get("sourceLocation")
    return f"{where['fileID']}:{where['line']}" if where else "somewhere"


def _last_error(report):
    """Returns the last line of a job's output that contains "rror:", or else its last line."""
    lines = [line for line in output_of(report).splitlines() if line.strip()] or ["no output"]
    return next((line for line in reversed(lines) if "rror:" in line), lines[-1]).strip()
