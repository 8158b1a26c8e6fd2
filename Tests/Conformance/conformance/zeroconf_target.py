"""python-zeroconf as a responder, inside a host: zeroconf_target.py NAME TYPE PORT HOST ADDRESS...

It prints "registering" before and "registered" after the registration. SIGUSR1 changes the TXT record, SIGUSR2 the
name, SIGTERM unregisters and exits.
"""

import signal
import sys

from zeroconf import IPVersion, ServiceInfo, Zeroconf


def main(name, service_type, port, host, *addresses):
    wanted = {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)

    def service(name, **txt):
        return ServiceInfo(
            f"{service_type}.local.", f"{name}.{service_type}.local.", port=int(port),
            parsed_addresses=list(addresses), properties=txt, server=f"{host}.local.")

    with Zeroconf(ip_version=IPVersion.All) as zeroconf:
        print("registering", flush=True)
        current = service(name, txtvers="1", id="1")
        zeroconf.register_service(current, allow_name_change=True)
        print("registered", flush=True)
        while True:
            got = signal.sigwait(wanted)
            if got == signal.SIGTERM:
                break
            if got == signal.SIGUSR1:
                current = service(current.name.split(".")[0], txtvers="1", id="2")
                zeroconf.update_service(current)
            else:
                zeroconf.unregister_service(current)
                current = service("Lantern", txtvers="1", id="1")
                zeroconf.register_service(current)
        zeroconf.unregister_all_services()


main(*sys.argv[1:])
