#!/usr/bin/env python3
"""A script host for tests. It runs a script's text as a Python program, which declares its rules in the list `rules` and
answers each call in the function `call`."""

import json
import os
import signal
import sys
import time


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


script = {}
for line in sys.stdin:
    asked = json.loads(line)
    if "load" in asked:
        script = {"load": asked["load"], "os": os, "signal": signal, "sys": sys, "time": time, "say": say}
        exec(asked["load"]["source"], script)
        say({"loaded": {"rules": script.get("rules", []), "log": script.get("log", [])}})
    else:
        answer = script["call"](asked["call"])
        if answer is not None:
            say(answer if "failed" in answer else {"done": answer})
