"""The editor of rule files: findings while the user types, the backtest, templates, and the logs of scripts."""

import datetime
import re

import pytest
from playwright.sync_api import expect

from deadlines import patient
from test_access import LOOKS, violations
from test_measuring import see

NIGHT = '- rule: Night\n  when: { time: "03:00" }\n  then:\n    - turn off: Lamp\n'
SCRIPT = 'on("Switch", "button", "pressed", function() log("the bell rang") end)\n'
LONG = 1000 * patient(10)


@pytest.fixture
def home(empty_house):
    """A house with two plugs whose daemon permits editing, with a rule file, a script, and three days of a kettle."""
    house = empty_house
    house.add("Lamp", simulate="lamp")
    house.add("Switch", simulate="unplugged")
    house.rules = house.directory / "rules"
    house.rules.mkdir()
    (house.rules / "night.yaml").write_text(NIGHT)
    (house.rules / "bell.lua").write_text(SCRIPT)
    begin = datetime.datetime.now().replace(second=0, microsecond=0) - datetime.timedelta(days=3)
    times = [begin + datetime.timedelta(seconds=10 * count) for count in range(3 * 8640 - 60)]
    recording = house.directory / "recording.csv"
    recording.write_text("".join(f"{at:%d/%m/%Y %H:%M:%S};{2000 if at.hour in (7, 16) and 10 <= at.minute < 14 else 0}\n" for at in times))
    house.does("history", "import", recording, "--plug", "Kettle", "--history", house.directory / "history")
    house.start_daemon("--edit-rules")
    return house


def opened(page):
    page.page.get_by_role("region", name="Rules").get_by_role("button", name="Rule files …").click()
    dialog = page.page.get_by_role("dialog", name="Rule files")
    expect(dialog.get_by_role("textbox", name="Text of the rule file")).to_be_visible(timeout=LONG)
    return dialog


@pytest.fixture
def page(home, look):
    dashboard = look()
    for name in home.plugs:
        dashboard.is_connected(name)
    return dashboard


def type_text(page, dialog, text, name="Text of the rule file"):
    """Replaces the text of the editor, as a user who pastes."""
    dialog.get_by_role("textbox", name=name).focus()
    page.page.evaluate("""text => {
        const editor = document.querySelector(".CodeMirror").CodeMirror;
        editor.replaceRange(text, { line: 0, ch: 0 }, { line: editor.lastLine() + 1, ch: 0 }, "+input");
    }""", text)


def shown(page):
    return page.page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getValue()")


def verdict(dialog, words):
    expect(dialog.get_by_role("status").filter(has_text=words)).to_have_count(1, timeout=LONG)


def test_findings_follow_the_typing(home, page):
    """A wrong text has its findings with lines, in a list and as marks. A finding leads to its place. The text is not saved."""
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("night.yaml")
    verdict(dialog, "No errors.")
    type_text(page, dialog, NIGHT.replace("turn off: Lamp", "turn of: Lamp").replace("03:00", "25:00"))
    verdict(dialog, "2 errors")
    findings = dialog.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(findings).to_have_count(2)
    expect(findings.nth(1)).to_contain_text("turn off")
    assert page.page.locator(".mark-error").count() >= 2 and page.page.locator(".gutter-error").count() == 2
    findings.nth(1).get_by_role("button", name="Go to line 4").click()
    assert page.page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getCursor().line") == 3
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("line 2", ignore_case=True)
    assert (home.rules / "night.yaml").read_text() == NIGHT
    dialog.get_by_role("button", name="Revert").click()
    verdict(dialog, "No errors.")
    assert shown(page) == NIGHT


def test_findings_are_german_on_a_german_page(home, look):
    page = look(locale="de-DE")
    page.page.get_by_role("button", name="Regeldateien …").click()
    dialog = page.page.get_by_role("dialog", name="Regeldateien")
    dialog.get_by_role("combobox", name="Datei", exact=True).select_option("night.yaml")
    verdict(dialog, "Keine Fehler.")
    type_text(page, dialog, NIGHT.replace("turn off: Lamp", "turn of: Lamp"), "Text der Regeldatei")
    expect(dialog.get_by_role("list", name="Befunde").get_by_role("listitem")).to_contain_text(
        "Fehler: 'turn of' ist hier nicht bekannt (eine Aktion) Hinweis: gemeint ist vielleicht 'turn off'", timeout=LONG)


def test_a_saved_rule_runs(home, page, keep_picture):
    """A new file is begun, filled and saved; its rule then runs. The backtest shows its firings. The file is deleted."""
    dialog = opened(page)
    dialog.get_by_role("button", name="New file …").click()
    dialog.get_by_label("Name, such as evening.yaml").fill("tea.yaml")
    dialog.get_by_role("button", name="Begin").click()
    type_text(page, dialog, "- rule: Tea\n  when:\n    plug: Kettle\n    active power: { rises above: 1 kW, for: 2 s }\n  then:\n    - notify: Tea\n")
    verdict(dialog, "No errors.")
    verdict(dialog, re.compile("These rules would have fired [56] times"))
    expect(dialog.get_by_role("img", name=re.compile("^[56] firings from"))).to_be_visible()
    expect(dialog.get_by_role("list", name="Firings, the newest first").get_by_role("listitem").first).to_contain_text("Tea")
    keep_picture(page, "editor")
    dialog.get_by_role("button", name="Save").click()
    verdict(dialog, "Saved.")
    assert "rises above: 1 kW" in (home.rules / "tea.yaml").read_text()
    heading = page.page.get_by_role("heading", level=3, name="Tea", exact=True, include_hidden=True)
    expect(heading).to_have_count(1, timeout=LONG)
    dialog.get_by_role("button", name="Delete file …").click()
    dialog.get_by_role("button", name="Delete it and its rules").click()
    verdict(dialog, "Deleted.")
    assert not (home.rules / "tea.yaml").exists()
    expect(heading).to_have_count(0, timeout=LONG)


def test_a_change_by_another_editor_is_kept(home, page):
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("night.yaml")
    verdict(dialog, "No errors.")
    other = "# by an editor\n" + NIGHT
    (home.rules / "night.yaml").write_text(other)
    type_text(page, dialog, NIGHT.replace("03:00", "04:00"))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("has changed since it was read")
    assert (home.rules / "night.yaml").read_text() == other
    # Closing asks first, because the text is not saved.
    dialog.get_by_role("button", name="Close").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not saved")
    dialog.get_by_role("button", name="Discard the changes").click()
    expect(dialog).to_have_count(0)


def test_programs_are_not_added(home, page):
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("night.yaml")
    verdict(dialog, "No errors.")
    type_text(page, dialog, NIGHT + "    - run: [/bin/true]\n")
    verdict(dialog, "1 error")
    expect(dialog.get_by_role("list", name="Findings")).to_contain_text("edit the file on the daemon's machine")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("runs a program")
    assert (home.rules / "night.yaml").read_text() == NIGHT


def test_each_template_is_valid(home, page):
    """Each template, with plugs of the house, is a rule without errors."""
    dialog = opened(page)
    dialog.get_by_role("button", name="New file …").click()
    dialog.get_by_role("button", name="Begin").click()
    form = dialog.get_by_role("form", name="Template")
    titles = form.get_by_role("combobox", name="Template", exact=True).locator("option").all_text_contents()
    assert 4 <= len(titles) <= 6
    for title in titles:
        type_text(page, dialog, "")
        form.get_by_role("combobox", name="Template", exact=True).select_option(label=title)
        form.get_by_role("button", name="Insert").click()
        assert shown(page).startswith(f"- rule: {title}\n"), shown(page)
        # A house without a location has no sunset.
        expected = "error" if "sunset" in title else re.compile("^(No errors|0 errors)")
        expect(dialog.locator("p[role=status]").first).to_have_text(re.compile(expected) if isinstance(expected, str) else expected, timeout=LONG)


def test_keys_leave_the_text(home, page):
    """Tab indents, Escape leaves the text, and a second Escape closes the dialog."""
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("night.yaml")
    verdict(dialog, "No errors.")
    dialog.get_by_role("textbox", name="Text of the rule file").focus()
    page.page.keyboard.press("Tab")
    page.page.keyboard.type("# late ")
    assert shown(page).startswith("  # late - rule"), shown(page)
    page.page.keyboard.press("Escape")
    expect(dialog.get_by_role("button", name="Save")).to_be_focused()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Revert").click()
    see(page, lambda: shown(page) == NIGHT, 5, lambda: f"the stored text: {shown(page)}")
    page.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_script_is_shown_with_its_log(home, page, keep_picture):
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("bell.lua")
    see(page, lambda: shown(page) == SCRIPT, 5, lambda: f"the script: {shown(page)}")
    expect(dialog).to_contain_text("read-only, because it is a script")
    expect(dialog.get_by_role("button", name="Save")).to_be_hidden()
    expect(dialog).to_contain_text("has logged nothing")
    dialog.get_by_role("button", name="Close").click()
    home.plugs["Switch"].press()
    expect(page.page.get_by_role("heading", level=3, name=re.compile("^bell.lua"))).to_have_count(1)
    page.page.wait_for_timeout(1000)
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("bell.lua")
    expect(dialog.get_by_role("list", name="Log of the script, the newest first")).to_contain_text("the bell rang")
    keep_picture(page, "editor-script")


def test_without_permission_files_are_read_only(house, page_of_house):
    """The dialog states why editing is off and how to turn it on. Text and backtest are shown."""
    page = page_of_house
    dialog = opened(page)
    expect(dialog).to_contain_text("plugctl daemon --edit-rules")
    expect(dialog.get_by_role("textbox", name="Text of the rule file")).to_have_attribute("aria-readonly", "true")
    verdict(dialog, re.compile("No errors|0 errors"))
    for name in ("Save", "Revert", "Delete file …", "New file …"):
        expect(dialog.get_by_role("button", name=name)).to_be_hidden()


@pytest.fixture
def page_of_house(house, look):
    return look()


@pytest.mark.parametrize("name", ["light", "dark", "phone"])
def test_axe_finds_nothing_in_the_editor(home, look, keep_picture, name):
    page = look(**LOOKS[name]) if name in LOOKS else look()
    page.is_connected("Lamp")
    dialog = opened(page)
    dialog.get_by_role("combobox", name="File", exact=True).select_option("night.yaml")
    type_text(page, dialog, NIGHT.replace("turn off", "turn of"))
    verdict(dialog, "1 error")
    keep_picture(page, f"editor-{name}")
    assert not violations(page)
    for width in (page.page.viewport_size["width"], 320):
        page.page.set_viewport_size({"width": width, "height": 700})
        across = dialog.evaluate("element => [element.scrollWidth, element.clientWidth]")
        assert across[0] <= across[1], f"the dialog scrolls sideways at {width} px"
