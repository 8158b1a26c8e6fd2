"""A scripted peer that black-box tests multicast DNS responders (RFC 6762, RFC 6763) and the address configuration of
hosts (RFC 3927, RFC 5227, RFC 2131, RFC 4862), and sleep proxies."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Makes the harness of the interoperability tests importable.
sys.path.append(str(HERE.parent.parent / "Interoperability"))
