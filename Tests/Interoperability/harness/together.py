"""Runs the cases of a module in parallel, because they mostly wait. Each case has its own link and is reported as its own
test."""

import functools
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

from harness.lan import LAN
from harness.plugs import Controller, Plug

PREFIX = "case_"
AT_ONCE = 12
# At most two cases start a program at the same time, because a start needs the processor and would delay measurements of other cases.
STARTING = threading.Semaphore(2)


def cases(module):
    """Returns the cases in a module's `globals()` by the name of their verdict. A case with the list `each`, which `with_each` sets, is
    returned once per element."""
    found = {}
    for name, case in module.items():
        if name.startswith(PREFIX):
            spoken = name.removeprefix(PREFIX).replace("_", " ")
            if hasattr(case, "each"):
                found |= {f"{spoken}, {kind.name}": functools.partial(case, kind=kind) for kind in case.each}
            else:
                found[spoken] = case
    return found


def with_each(*kinds):
    def mark(case):
        case.each = kinds
        return case

    return mark


class Verdicts:
    """The verdicts of the cases. The cases start when this object is created."""

    def __init__(self, module, names, programs, folder):
        self._lan = LAN()
        all_cases = cases(vars(module))
        self._houses = {name: House(self._lan, programs, folder / str(number)) for number, name in enumerate(names)}
        self._pool = ThreadPoolExecutor(max_workers=min(AT_ONCE, len(names)))
        self._running = {name: self._pool.submit(self._run, all_cases[name], house)
                         for name, house in self._houses.items()}

    @staticmethod
    def _run(case, house):
        try:
            return case(house)
        finally:
            house.close()

    def of(self, name):
        """Waits until the case has ended. Raises the error of a failed case."""
        return self._running[name].result()

    def transcripts(self, name):
        return self._houses[name].transcripts

    def close(self):
        self._pool.shutdown()
        self._lan.close()


class House:
    """The environment of a case: a link, hosts without a configured address, and plugs that configure their own."""

    def __init__(self, lan, programs, folder):
        self.folder = folder
        self._lan, self._programs = lan, programs
        self._links = []
        self._plugs = itertools.count()
        self._resources = []
        self.link = self.another_link()
        folder.mkdir()

    def another_link(self):
        self._links.append(self._lan.link())
        return self._links[-1]

    def host(self, **how):
        with STARTING:
            return self.link.host(**{"ipv4": False, "detects_duplicates": True} | how)

    def server(self, kind, *rest, **more):
        """Starts a DHCP server on its own host with a fixed address."""
        with STARTING:
            return kind(self.link.host(), *rest, **more)

    def plug(self, host, name="Lamp", addressing="manage", **options):
        state = options.pop("state", self.folder / f"plug{next(self._plugs)}")
        options = {"interface": "eth0", "port": 4711} | options
        with STARTING:
            plug = Plug(
                self._programs, host, name, state, memory=self.folder, addressing=addressing,
                **{option: value for option, value in options.items() if value is not None})
            plug.running.seen(lambda line: "addresses" in line.text, 20, "who manages the interface's addresses")
        return plug

    def program(self, name):
        return self._programs / name

    def controller(self, host):
        return Controller(self._programs, host, memory=self.folder)

    def until_end(self, resource):
        """Closes the resource after the case. Returns the resource."""
        self._resources.append(resource)
        return resource

    @property
    def transcripts(self):
        return [told for link in self._links for told in link.transcripts]

    def close(self):
        for resource in self._resources:
            resource.close()
        for link in self._links:
            link.close()
