"""Random bytes, sent from a host of the LAN."""

import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("noise_program.py")


def make_noise(host, kind, address, port, count, seed=1):
    done = host.finish(sys.executable, PROGRAM, kind, address, port, seed, count, within=20 + count / 2000)
    assert done.output == "sent", done
