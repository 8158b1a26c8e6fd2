"""python-zeroconf as a separate program, because it must run inside a host of the LAN. Prints JSON objects.

zeroconf_program.py browse TYPE INTERFACES FAMILY    {"event": "added"|"resolved"|"removed", "name", "port", "addresses", "txt"}
zeroconf_program.py publish TYPE INTERFACES FAMILY NAME PORT ADDRESS [KEY=VALUE]...    {"event": "published"}
INTERFACES is "all" or an address; FAMILY is "4", "6" or "all".
"""

import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

from zeroconf import InterfaceChoice, IPVersion, ServiceBrowser, ServiceInfo, ServiceStateChange, Zeroconf


def tell(event, **fields):
    # One write per line: several threads print, and their lines must not mix.
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def instance(full_name, service_type):
    return full_name[: -len(service_type) - 1]


def browse(zeroconf, service_type):
    resolvers = ThreadPoolExecutor(8)

    def resolve(full_name):
        info = zeroconf.get_service_info(service_type, full_name, timeout=8000)
        if info is not None:
            tell(
                "resolved", name=instance(full_name, service_type), port=info.port, addresses=info.parsed_scoped_addresses(),
                txt={key.decode(): (value or b"").decode() for key, value in info.properties.items()})

    def changed(zeroconf, service_type, name, state_change):
        if state_change is ServiceStateChange.Added:
            tell("added", name=instance(name, service_type))
            resolvers.submit(resolve, name)
        elif state_change is ServiceStateChange.Removed:
            tell("removed", name=instance(name, service_type))

    ServiceBrowser(zeroconf, service_type, handlers=[changed])


def publish(zeroconf, service_type, name, port, address, *txt):
    zeroconf.register_service(
        ServiceInfo(
            service_type, f"{name}.{service_type}", port=int(port), parsed_addresses=[address],
            properties=dict(item.split("=", 1) for item in txt), server=f"zeroconf-{port}.local."))
    tell("published")


def main(verb, service_type, interfaces, family, *rest):
    version = {"4": IPVersion.V4Only, "6": IPVersion.V6Only, "all": IPVersion.All}[family]
    chosen = InterfaceChoice.All if interfaces == "all" else [interfaces]
    # Blocked also in the threads that start later, so that a signal that arrives before the wait is not lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with Zeroconf(interfaces=chosen, ip_version=version) as zeroconf:
        {"browse": browse, "publish": publish}[verb](zeroconf, service_type + ".local.", *rest)
        signal.sigwait({signal.SIGTERM})


main(*sys.argv[1:])
