"""A plug with the folder of the image, and the part of the image that installs bundles, played by the test."""

from deadlines import eventually

BUNDLE = b"hsqs" + bytes(range(256)) * 2000


class Installer:
    """`state` is the folder of the plug's state; `options` are those of the fixture `plug`."""

    def __init__(self, plug, host, state, name="Lamp", **options):
        (state / "update").mkdir(parents=True)
        self._state, self._start = state, lambda: plug(host, name, state=state, **options)
        self.plug = self._start()

    @property
    def restart_is_wanted(self):
        return (self._state / "run" / "restart").exists()

    def has(self, file, within=10):
        path = self._state / file
        eventually(path.exists, within, lambda: f"{file}:\n{self.plug.running.transcript()}")
        return path

    def writes(self, *lines):
        """Writes the state of the update."""
        (self._state / "run").mkdir(exist_ok=True)
        new = self._state / "run" / "new-state"
        new.write_text("\n".join(lines) + "\n")
        new.rename(self._state / "run" / "update")

    def install(self, *lines):
        """Takes the bundle, and writes a state after it."""
        bundle = self.has("update/bundle.raucb")
        content = bundle.read_bytes()
        self.writes(*lines)
        bundle.unlink()
        return content

    def restart(self, *lines):
        """Restarts the plug at its request, with a system that writes this state before the plug starts, or none."""
        self.has("run/restart", within=20).unlink()
        self.plug.running.stop()
        if lines:
            self.writes(*lines)
        else:
            (self._state / "run" / "update").unlink()
        self.plug = self._start()


def publish(folder, system):
    """Writes a bundle and its description, as `Scripts/image` does, for the board `board`."""
    folder.mkdir(exist_ok=True)
    (folder / f"{system}.raucb").write_bytes(BUNDLE)
    (folder / "board.json").write_text(f'{{"board": "board", "system": "{system}", "bundle": "{system}.raucb"}}')
    return folder
