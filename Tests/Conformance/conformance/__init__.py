"""A scripted peer that judges from outside: a multicast DNS responder (RFC 6762, RFC 6763), and how a host gets its addresses
(RFC 3927, RFC 5227, RFC 2131, RFC 4862)."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The hosts, programs and peers that the interoperability tests use.
sys.path.append(str(HERE.parent.parent / "Interoperability"))
