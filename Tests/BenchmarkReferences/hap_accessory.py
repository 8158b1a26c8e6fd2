"""Runs HAP-python with an outlet: hap_accessory.py CODE STATE [ADDRESS]. The default address is that of loopback. Prints the port and the
instance id of On, and runs until it is killed."""

import asyncio
import contextlib
import logging
import socket
import sys

from pyhap.accessory import Accessory
from pyhap.accessory_driver import AccessoryDriver
from pyhap.const import CATEGORY_OUTLET
from zeroconf.asyncio import AsyncZeroconf


class Outlet(Accessory):
    category = CATEGORY_OUTLET

    def __init__(self, driver, name):
        super().__init__(driver, name)
        self.switch = self.add_preload_service("Outlet").configure_char("On", setter_callback=lambda value: None)


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


async def main(code, state, address="127.0.0.1"):
    logging.disable(logging.CRITICAL)
    port = free_port(address)
    driver = AccessoryDriver(
        address=address, port=port, persist_file=state, pincode=code.encode(), loop=asyncio.get_running_loop(),
        async_zeroconf_instance=AsyncZeroconf(interfaces=[address]))
    outlet = Outlet(driver, "Reference")
    driver.add_accessory(outlet)
    # HAP-python prints its setup code on standard output, which is reserved for the port and the id.
    with contextlib.redirect_stdout(sys.stderr):
        await driver.async_start()
    print(port, outlet.iid_manager.get_iid(outlet.switch), flush=True)
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
