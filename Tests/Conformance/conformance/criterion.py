"""Criteria, their verdicts, and the table of all criteria."""

from dataclasses import dataclass, field
from typing import Callable

PASS, WARN, FAIL, UNJUDGED = "pass", "warn", "fail", "n/a"
PHASES = ("naming", "addressing", "sleep-proxy")
# The first word of a subject decides its phase; other subjects belong to the phase "naming".
PHASE_OF = {"addressing": "addressing", "sleep": "sleep-proxy"}


class Judgement(Exception):
    """A verdict with its reason and the packet that decided it. A test returns it, or raises it to end early."""

    def __init__(self, verdict, reason, packet=None):
        super().__init__(reason)
        self.verdict, self.reason, self.packet = verdict, reason, packet


def passed(reason, packet=None):
    return Judgement(PASS, reason, packet)


def warned(reason, packet=None):
    return Judgement(WARN, reason, packet)


def failed(reason, packet=None):
    return Judgement(FAIL, reason, packet)


def unjudged(reason):
    return Judgement(UNJUDGED, reason)


@dataclass(frozen=True)
class Criterion:
    name: str
    section: str
    title: str
    judge: Callable
    proof: object  # the Alteration with which the criterion must not pass
    needs: frozenset  # abilities of the target, see targets.py
    seconds: float  # approximate duration; long criteria start first
    worst: str  # WARN for a SHOULD, FAIL for everything else
    subject: str
    retried: int  # limit of repetitions after a failure or warning, which a busy machine may have caused

    @property
    def phase(self):
        return PHASE_OF.get(self.subject.partition("_")[0], "naming")


@dataclass
class Table:
    criteria: dict = field(default_factory=dict)

    def __call__(self, section, title, proof, needs=(), seconds=8.0, worst=FAIL, retried=0):
        """Decorates the test function of a criterion: judge(bench) returns or raises a Judgement."""
        def register(judge):
            name = judge.__name__.replace("_", "-")
            assert name not in self.criteria, f"two criteria are named {name}"
            self.criteria[name] = Criterion(
                name, section, title, judge, proof, frozenset(needs), seconds, worst, judge.__module__.rsplit(".", 1)[-1],
                retried)
            return judge
        return register


criterion = Table()


def all_criteria():
    """Returns all criteria by name, in the order of the table."""
    import conformance.criteria  # Registers the criteria.
    return conformance.criteria.table()
