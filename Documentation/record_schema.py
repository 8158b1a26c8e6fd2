"""Prints the JSON Schema of the lines that `plugctl --json` prints: record_schema.py. The sources are the records in Swift with their comments."""

import json
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).parents[1]
SOURCES = ["Controller/Presentation", "Controller/plugctl"]
VERSION = 1
SIMPLE = {"String": {"type": "string"}, "Bool": {"type": "boolean"}, "Double": {"type": "number"}, "SequenceNumber": {"type": "integer", "minimum": 0}}
STRUCT = re.compile(r"^( *)(?:public |private |fileprivate )?struct (\w+): ([^{]*)\{")
FIELD = re.compile(r"^( *)(?:public )?(?:private\(set\) )?(?:let|var) (\w+): ([^={]+?)(?: = .*)?$")
# A key in JSON that differs from the name of its field, as in `CodingKeys`.
KEY = re.compile(r'^ +case (\w+) = "(\w+)"$')
# The record of each command. Commands that are missing here print the record of a related command or several kinds of records.
COMMANDS = {
    "house": "PlugRecord", "browse": "BrowseRecord", "resolve": "ResolveRecord", "info": "InfoRecord", "pair": "PairedRecord",
    "address": "AddressRecord", "controllers": "ControllerRecord", "invite": "InvitationRecord", "invitations": "OpenInvitationRecord",
    "new-code": "SetupCodeRecord", "homekit": "HomeKitRecord", "matter": "MatterRecord", "on": "CommandRecord", "off": "CommandRecord",
    "toggle": "CommandRecord", "dim": "CommandRecord", "identify": "CommandRecord", "rename": "RenameRecord", "set": "SettingsRecord", "watch": "WatchRecord",
    "logs": "LogRecord", "audit": "AuditRecord", "history show": "EnergyRecord", "tariff": "TariffRecord", "budget": "BudgetRecord",
    "rules state": "RuleStateRecord",
    "doctor": "FindingRecord", "domains": "DomainRecord", "chart": "SampleRecord", "wake": "WakeRecord", "update": "UpdateRecord", "wifi": "WiFiRecord",
}


def schema_of(kind, known):
    """Returns the schema of a type in Swift, or None if it is not a type of a record."""
    kind = kind.strip()
    if kind in SIMPLE:
        return SIMPLE[kind]
    if re.fullmatch(r"U?Int(8|16|32|64)?", kind):
        return {"type": "integer", "minimum": 0} if kind.startswith("U") else {"type": "integer"}
    if found := re.fullmatch(r"\[String: (.+)\]", kind):
        return {"type": "object", "additionalProperties": schema_of(found[1], known)}
    if found := re.fullmatch(r"\[(.+)\]", kind):
        return {"type": "array", "items": schema_of(found[1], known)}
    return {"$ref": f"#/$defs/{kind}"} if kind in known else None


def structs(text):
    """Yields each encodable structure: its name, its comment, and its fields as (name, type, comment)."""
    comment, open_structs = [], []
    for line in text.splitlines():
        if line.strip().startswith("///"):
            comment.append(line.strip()[3:].strip())
            continue
        if (found := STRUCT.match(line)) and re.search(r"\b(Codable|Encodable)\b", found[3]):
            open_structs.append((len(found[1]), found[2], " ".join(comment), []))
        elif open_structs and line == " " * open_structs[-1][0] + "}":
            yield open_structs.pop()[1:]
        elif open_structs and (found := FIELD.match(line)) and len(found[1]) == open_structs[-1][0] + 4:
            open_structs[-1][3].append((found[2], found[3], " ".join(comment)))
        elif open_structs and (found := KEY.match(line)):
            fields = open_structs[-1][3]
            fields[:] = [(found[2] if name == found[1] else name, kind, words) for name, kind, words in fields]
        comment = []


def schema():
    found = {}
    for folder in SOURCES:
        for path in sorted((PROJECT / folder).rglob("*.swift")):
            for name, comment, fields in structs(path.read_text()):
                if fields and name not in found:
                    found[name] = (comment, fields)
    definitions = {}
    for name, (comment, fields) in sorted(found.items()):
        properties, required = {}, []
        for field, kind, words in fields:
            optional = kind.endswith("?")
            told = schema_of(kind.removesuffix("?"), found)
            if told is None:
                break
            # Names of symbols in the comments are written as code.
            words = re.sub(r"``(?:\w+/)*(\w+)(?:\([\w:]*\))?``", r"`\1`", words)
            properties[field] = told if "$ref" in told else {**told, **({"description": words} if words else {})}
            if not optional:
                required.append(field)
        else:
            definitions[name] = {
                "type": "object", **({"description": comment} if comment else {}), "properties": properties, "required": required,
                "additionalProperties": False}
    return definitions


def used(definitions):
    """Returns the definitions that a command needs."""
    needed, waiting = {}, set(COMMANDS.values())
    while waiting:
        name = waiting.pop()
        needed[name] = definitions[name]
        waiting |= set(re.findall(r"#/\$defs/(\w+)", json.dumps(definitions[name]))) - set(needed)
    return dict(sorted(needed.items()))


def main():
    print(json.dumps({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Lines of plugctl --json", "version": VERSION,
        "commands": {command: {"$ref": f"#/$defs/{name}"} for command, name in sorted(COMMANDS.items())},
        "$defs": used(schema())}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
