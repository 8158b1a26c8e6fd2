"""Runs python-zeroconf with many services, inside a host of the LAN. Prints JSON objects.

zeroconf_services.py browse TYPE COUNT      prints {"event": "resolved", "seconds"} when COUNT services are resolved; the time begins with
                                            the browse; the listener resolves one service after the other, as in the library's README
zeroconf_services.py browse-at-once TYPE COUNT      does the same with the asynchronous interface, which resolves all services at once
zeroconf_services.py publish TYPE COUNT ADDRESS     prints {"event": "registering"}, later {"event": "announced"}, and continues to run
"""

import asyncio
import json
import sys
import threading
import time

from zeroconf import IPVersion, ServiceBrowser, ServiceListener, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def browse(service_type, count):
    began = time.monotonic()
    resolved, done = set(), threading.Event()

    class Listener(ServiceListener):
        def add_service(self, zeroconf, service_type, name):
            info = zeroconf.get_service_info(service_type, name, 20_000)
            if info and info.parsed_addresses():
                resolved.add(name)
                if len(resolved) == count:
                    done.set()

        def update_service(self, zeroconf, service_type, name):
            pass

        def remove_service(self, zeroconf, service_type, name):
            pass

    ServiceBrowser(Zeroconf(ip_version=IPVersion.V4Only), service_type, Listener())
    done.wait()
    tell("resolved", seconds=time.monotonic() - began)
    time.sleep(3600)


async def browse_at_once(service_type, count):
    began = time.monotonic()
    zeroconf = AsyncZeroconf(ip_version=IPVersion.V4Only)
    resolving, done = [], asyncio.Event()
    resolved = set()

    async def resolve(name):
        info = AsyncServiceInfo(service_type, name)
        if await info.async_request(zeroconf.zeroconf, 20_000) and info.parsed_addresses():
            resolved.add(name)
            if len(resolved) == count:
                done.set()

    def changed(zeroconf, service_type, name, state_change):
        if state_change is ServiceStateChange.Added:
            resolving.append(asyncio.ensure_future(resolve(name)))

    AsyncServiceBrowser(zeroconf.zeroconf, service_type, handlers=[changed])
    await done.wait()
    tell("resolved", seconds=time.monotonic() - began)
    await asyncio.sleep(3600)


async def publish(service_type, count, address):
    zeroconf = AsyncZeroconf(ip_version=IPVersion.V4Only)
    tell("registering")
    # The second await waits for the announcements; a registration returns before them.
    announcing = await asyncio.gather(*(
        zeroconf.async_register_service(AsyncServiceInfo(
            service_type, f"Plug {number}.{service_type}", port=4000 + number, parsed_addresses=[address],
            properties={"txtvers": "1", "id": f"{number:012x}", "pv": "1", "pair": "0", "caps": "relay,button,meter"},
            server="zeroconf.local."))
        for number in range(count)))
    await asyncio.gather(*announcing)
    tell("announced")
    await asyncio.sleep(3600)


verb, service_type, count, *rest = sys.argv[1:]
work = {"browse": browse, "browse-at-once": browse_at_once, "publish": publish}[verb](
    f"{service_type}.local.", int(count), *rest)
if work:
    asyncio.run(work)
