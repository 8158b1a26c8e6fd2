"""A board on a network, as its owner sees it. This is the test for other processors in the short form."""

import json

from deadlines import eventually
from test_meter import ADE, reads


def test_a_plug_is_found_paired_switched_pressed_and_read(guest, plug, button, lines, mains, network, tmp_path):
    """plugd chooses its own address on an emulated network card. plugctl on the other host finds it by name, pairs, switches, and reads."""
    mains.feeds(230, 2, 460)
    running = plug(network={"interface": "eth0"}, meter=ADE).start()
    code = tmp_path / "code"
    code.write_text(guest.does(f"cat {running.folder}/state/setup-code"))
    reads(running, voltageRMS=230, activePower=460)

    def controller(*words):
        return network.plugctl(tmp_path, *words)

    controller("pair", "Plug", "--code-file", str(code))
    controller("on", "Plug")
    assert lines.value("RELAY") == 1
    button.press(120)
    eventually(lambda: lines.value("RELAY") == 0, 10, lambda: f"the button to switch:\n{running.log()}")
    controller("on", "Plug")
    info = json.loads(controller("info", "Plug", "--json"))
    assert info["on"] is True and abs(info["activePower"] - 460) < 1, info
