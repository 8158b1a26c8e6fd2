"""A scripted peer that judges a multicast DNS responder from outside (RFC 6762, RFC 6763)."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The hosts, programs and peers that the interoperability tests use.
sys.path.append(str(HERE.parent.parent / "Interoperability"))
