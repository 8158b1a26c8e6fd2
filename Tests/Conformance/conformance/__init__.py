"""A scripted peer that tests two things as a black box: a multicast DNS responder (RFC 6762, RFC 6763), and how a host
gets its addresses (RFC 3927, RFC 5227, RFC 2131, RFC 4862)."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The hosts, programs and peers of the interoperability tests.
sys.path.append(str(HERE.parent.parent / "Interoperability"))
