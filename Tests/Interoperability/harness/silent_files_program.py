"""Mounts a file system that never answers, like a network file system without its server, until this program ends.

usage: silent_files_program.py FOLDER
"""

import ctypes
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
# This program never reads the requests of the kernel.
requests = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={requests},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if LIBC.mount(b"silent", os.fsencode(sys.argv[1]), b"fuse", 0, options) != 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
signal.pause()
