"""A folder for a controller's key and the keys of its plugs."""

import os
import pathlib

from .errors import AlreadyPaired
from .identity import Identity, PairedPlug


class KeyFolder:
    """The folder contains the controller's key in `key.pem`, and the key of each plug (DER) in a file `ID.plug`, named
    after the plug's id. Only the owner of the files can read them."""

    def __init__(self, path: str | pathlib.Path) -> None:
        self._path = pathlib.Path(path)
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def identity(self) -> Identity:
        """Returns the controller's key, which is generated the first time."""
        file = self._path / "key.pem"
        if not file.exists():
            self._write(file, Identity.draw().private_key)
        return Identity(file.read_bytes())

    def plugs(self) -> list[PairedPlug]:
        """Returns all paired plugs."""
        return [PairedPlug(file.stem, (file.read_bytes(),)) for file in sorted(self._path.glob("[!.]*.plug"))]

    def plug_with(self, key: bytes) -> PairedPlug | None:
        """Returns the plug with this key, or None if it is not paired."""
        return next((plug for plug in self.plugs() if plug.knows(key)), None)

    def keep(self, plug: PairedPlug, replace: bool = False) -> None:
        """Stores the plug's key. Any plug can claim any id, so a different key of the same id needs `replace`.

        Raises AlreadyPaired.
        """
        known = next((known for known in self.plugs() if known.plug_id == plug.plug_id), None)
        if known is not None and not replace and not any(known.knows(key) for key in plug.keys):
            raise AlreadyPaired(
                f"the plug claims to be plug {plug.plug_id}, which is paired with a different key; nothing was replaced\n"
                "hint: another device may pretend to be this plug; if it was reset, use `pair --replace`")
        self._write(self._path / f"{plug.plug_id}.plug", plug.keys[0])

    def _write(self, file: pathlib.Path, content: bytes) -> None:
        written = file.with_suffix(".new")
        with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        written.replace(file)
