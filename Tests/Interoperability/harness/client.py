"""The Python client (Integrations/python-smartplug), run on a host of the LAN."""

import sys


class Client:
    def __init__(self, host, address, port, identity):
        self._host, self._words = host, [
            sys.executable, "-m", "smartplug_client", "--host", address, "--port", port, "--identity", identity]

    def finish(self, *words, within=15):
        return self._host.finish(*self._words, *words, within=within)

    def does(self, *words, within=15):
        done = self.finish(*words, within=within)
        assert done.status == 0, f"the client: {' '.join(map(str, words))}: {done}"
        return done.objects

    def is_refused(self, reason, *words):
        """Runs a command and expects that it prints a refusal with its reason, and nothing else."""
        done = self.finish(*words)
        assert done.status == 1 and not done.output and done.errors.startswith(f"error: {reason}"), done
        return done

    def start(self, *words):
        return self._host.start(*self._words, *words, name="the client")
