"""The command line. `run` starts it inside the namespaces that it creates."""

import argparse
import pathlib
import sys

from conformance import report, runner
from conformance.criterion import FAIL, PHASES, WARN, all_criteria
from conformance.targets import TARGETS


WRONG_USAGE = 64


def refuse(reason, hint):
    print(f"error: {reason}\nhint: {hint}", file=sys.stderr)
    sys.exit(WRONG_USAGE)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        refuse(message, "Scripts/conformance --help")


def arguments():
    parser = Parser(
        prog="Scripts/conformance",
        description="Black-box tests a multicast DNS responder (phase naming, RFC 6762 and RFC 6763), how a host gets its "
                    "addresses (phase addressing, RFC 3927, RFC 5227, RFC 2131 and RFC 4862), and a sleep proxy (phase "
                    "sleep-proxy, RFC 9664 and draft-cheshire-edns0-owner-option). Prints one line per criterion: pass, "
                    "warn (a SHOULD) or fail, with the section and the packet that decided it. Exit status 1 if a "
                    "criterion fails.")
    parser.add_argument("--target", action="append", choices=[*TARGETS, "all"], metavar="NAME",
                        help=f"target to test: {', '.join(TARGETS)} or all; repeatable (default: plugd)")
    parser.add_argument("--phase", choices=[*PHASES, "all"], default="all",
                        help=f"{', '.join(PHASES)} or all phases that the target supports (default: all)")
    parser.add_argument("--criteria", nargs="+", metavar="NAME", help="only these criteria or subjects; see --list")
    parser.add_argument("--list", action="store_true", help="list the criteria and the alteration that proves each, then exit")
    parser.add_argument("--prove", action="store_true",
                        help="test the criteria themselves: for each one, a proxy alters the target's packets (or a command changes "
                             "the target's host), so that the target violates it; a criterion that does not notice this fails")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--strict", action="store_true", help="a warning counts as a failure")
    parser.add_argument("--table", metavar="FILE", help="write a Markdown table of all tested targets")
    parser.add_argument("--junit-xml", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--programs", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.prove and given.table:
        parser.error("--table cannot be combined with --prove")
    if given.table and given.phase == "all":
        refuse("--table needs exactly one phase", f"add --phase {' or --phase '.join(PHASES)}")
    return given


def work_of(given):
    """Returns pairs of a criterion's name and a target."""
    criteria = all_criteria()
    wanted = given.target or ["plugd"]
    names = selected(given.criteria)
    phases = set(PHASES) if given.phase == "all" else {given.phase}
    work = []
    for target in list(TARGETS) if "all" in wanted else list(dict.fromkeys(wanted)):
        judged_by = phases & TARGETS[target].phases
        if not judged_by and "all" not in wanted:
            able = [name for name, other in TARGETS.items() if other.phases & phases]
            refuse(f"{target} does not support the phase {given.phase}", f"--target {' or --target '.join(able)}")
        work += [(name, target) for name in names if criteria[name].phase in judged_by]
    if not work:
        refuse("no selected criterion belongs to that phase and target", "Scripts/conformance --list")
    return work


def selected(names):
    criteria = all_criteria()
    if not names:
        return list(criteria)
    subjects = {criterion.subject for criterion in criteria.values()}
    unknown = [name for name in names if name not in criteria and name.replace("-", "_") not in subjects]
    if unknown:
        refuse(f"unknown criterion or subject '{unknown[0]}'", "Scripts/conformance --list")
    return [name for name, criterion in criteria.items()
            if name in names or criterion.subject.replace("_", "-") in names or criterion.subject in names]


def main():
    given = arguments()
    if given.list:
        print(report.listing())
        return 0
    work = work_of(given)
    targets = list(dict.fromkeys(target for _, target in work))
    versions = {target: TARGETS[target].version(given.programs) for target in targets}
    results = []
    for result in runner.run(work, given.programs, altered=given.prove):
        result = runner.proven(result) if given.prove else result
        results.append(result)
        print(report.json_line(result, given.prove) if given.json else report.line(result, len(targets) > 1), flush=True)
    for target, version in versions.items():
        own = [result for result in results if result.target == target]
        print(f"{target} {version}: {report.total(own)}", file=sys.stderr if given.json else sys.stdout, flush=True)
    if given.junit_xml:
        report.write_junit(given.junit_xml, results, given.strict)
    if given.table:
        report.write_table(given.table, results, versions, given.phase)
    bad = {FAIL, WARN} if given.strict else {FAIL}
    return 1 if any(result.verdict in bad for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
