"""Random bytes, sent from a host of the LAN."""

import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("noise_program.py")


def make_noise(host, kind, address, port, seed=1):
    done = host.finish(sys.executable, PROGRAM, kind, address, port, seed, within=20)
    assert done.output == "sent", done
