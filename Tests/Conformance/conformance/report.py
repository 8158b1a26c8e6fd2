"""Output: lines of text, JSON, JUnit XML, and the Markdown table of all tested targets."""

import datetime
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict

from conformance.criterion import FAIL, PASS, UNJUDGED, WARN, all_criteria
from conformance.simulated import SIMULATED
from conformance.targets import TARGETS

SHOWN = 220  # characters of a packet in a line of text; --json prints the complete packet
BEYOND = (("tested in virtual time by the project's other tests", SIMULATED),)


def line(result, several_targets=False):
    criterion = all_criteria()[result.criterion]
    who = f"{result.target}: " if several_targets else ""
    text = f"{result.verdict:4}  {who}{result.criterion} ({criterion.section}): {result.reason}"
    if result.packet:
        packet = result.packet if len(result.packet) <= SHOWN else result.packet[:SHOWN] + "..."
        text += f"\n        {packet}"
    return text


def json_line(result, proof):
    criterion = all_criteria()[result.criterion]
    fields = asdict(result) | {"section": criterion.section, "title": criterion.title, "seconds": round(result.seconds, 1)}
    return json.dumps(fields | ({"alteration": criterion.proof.told} if proof else {}), ensure_ascii=False)


def counts(results):
    return {verdict: sum(result.verdict == verdict for result in results) for verdict in (PASS, WARN, FAIL, UNJUDGED)}


def total(results):
    number = counts(results)
    return f"{number[PASS]} pass, {number[WARN]} warn, {number[FAIL]} fail, {number[UNJUDGED]} not judged"


def listing():
    lines, subject = [], None
    for criterion in all_criteria().values():
        if criterion.subject != subject:
            subject = criterion.subject
            lines += ["", subject.replace("_", " ")] if lines else [subject.replace("_", " ")]
        lines.append(f"  {criterion.name:32} {criterion.section}: {criterion.title}")
        lines.append(f"  {'':32} {criterion.worst} if {criterion.proof.told}")
    for told, entries in BEYOND:
        lines += ["", told] + [f"  {section}: {title} ({where})" for section, title, where in entries]
    return "\n".join(lines)


def write_junit(path, results, strict):
    """Writes JUnit XML. A warning is a failure if `strict` is set. Otherwise it is skipped, like a criterion that was
    not judged."""
    suite = ElementTree.Element("testsuite", name="conformance")
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname=result.target, name=result.criterion)
        if result.verdict == FAIL or (strict and result.verdict == WARN):
            ElementTree.SubElement(case, "failure", message=f"{result.verdict}: {result.reason}")
        elif result.verdict != PASS:
            ElementTree.SubElement(case, "skipped", message=result.reason)
    ElementTree.ElementTree(suite).write(path, encoding="unicode")


MANY = 3  # If more criteria than this are not judged for the same reason, one line states their number.


def explanations(results):
    """Returns the lines below the table, in the order of its rows: one line per result, but one shared line if more than
    MANY criteria are not judged for the same reason."""
    order = list(all_criteria())
    reasons = [result.reason for result in results if result.verdict == UNJUDGED]
    lines = []
    for result in sorted(results, key=lambda result: order.index(result.criterion)):
        number = reasons.count(result.reason)
        if result.verdict == UNJUDGED and number > MANY:
            line = f"- {UNJUDGED}: {number} criteria: {result.reason}"
        else:
            line = f"- {result.verdict}: {all_criteria()[result.criterion].title}: {result.reason}"
        if line not in lines:
            lines.append(line)
    return lines


HEADS = {
    "naming": ("How multicast DNS responders conform to RFC 6762 and RFC 6763", "responder"),
    "addressing": ("How hosts get their addresses: RFC 3927, RFC 5227, RFC 2131 and RFC 4862", "host"),
    "sleep-proxy": ("How sleep proxies represent hosts that sleep", "proxy"),
}


def write_table(path, results, versions, phase):
    """Writes Markdown: one row per criterion, one column per target, and below the table the reasons of all verdicts
    other than pass."""
    def full(target):
        return f"{TARGETS[target].package} {versions[target]}"

    targets = list(versions)
    verdicts = {(result.criterion, result.target): result for result in results}
    today = datetime.date.today().isoformat()
    title, kind = HEADS[phase]
    lines = [
        f"# {title}", "",
        f"Tested on {today} with `Scripts/conformance --phase {phase} --table`, in one run, each {kind} with a scripted peer "
        "on its own link. `Scripts/conformance --list` lists, for each criterion, the alteration of packets with which it "
        "must not pass.", "",
        "| criterion | section | " + " | ".join(map(full, targets)) + " |",
        "| --- | --- |" + " --- |" * len(targets)]
    for criterion in all_criteria().values():
        if not any((criterion.name, target) in verdicts for target in targets):
            continue
        cells = [verdicts[criterion.name, target].verdict if (criterion.name, target) in verdicts else ""
                 for target in targets]
        marked = [f"**{cell}**" if cell == FAIL else cell for cell in cells]
        lines.append(f"| {criterion.title} | {criterion.section} | " + " | ".join(marked) + " |")
    numbers = [counts([result for result in results if result.target == target]) for target in targets]
    lines.append("| **total** | | " + " | ".join(
        f"{number[PASS]} pass, {number[WARN]} warn, {number[FAIL]} fail" for number in numbers) + " |")
    for target in targets:
        told = [result for result in results if result.target == target and not result.passed]
        if told:
            lines += ["", f"## {full(target)}", ""] + explanations(told)
    for told, entries in BEYOND if phase == "naming" else ():
        lines += ["", f"## {told.capitalize()}", ""]
        lines += [f"- {section}: {title} ({where})" for section, title, where in entries]
    with open(path, "w", encoding="utf-8") as table:
        table.write("\n".join(lines) + "\n")
