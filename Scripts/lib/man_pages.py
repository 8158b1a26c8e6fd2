"""Generates manual pages from the help of the programs and from the comments of their configuration.

  man_pages.py program VERSION <help.json     from `PROGRAM --experimental-dump-help`, for section 1 or 8
  man_pages.py configuration VERSION <FILE    from a configuration with a comment for every key, for section 5

SOURCE_DATE_EPOCH is the date of the page.
"""

import json
import os
import re
import socket
import sys
import time

SECTIONS = {"plugd": 8, "plugctl": 1}


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def paragraphs(text):
    """Converts text to roff: paragraphs are filled, indented lines stay unchanged."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines.append(".PP")
        literal = False
        for line in block.split("\n"):
            is_literal = line.startswith("  ")
            if is_literal != literal:
                lines += [".RS 4", ".nf"] if is_literal else [".fi", ".RE"]
                literal = is_literal
            lines.append(escaped(line.strip()))
        if literal:
            lines += [".fi", ".RE"]
    return lines


def page(name, section, about, version):
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    return [f'.TH {name.upper()} {section} "{date}" "smart plug {version}"', ".nh", ".ad l",
            ".SH NAME", f"{escaped(name)} \\- {escaped(about.rstrip('.'))}"]


def spelt(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def argument_term(argument):
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return f"\\fI{escaped(value)}\\fR"
    names = ", ".join(f"\\fB{escaped(spelt(name))}\\fR" for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} \\fI{escaped(value)}\\fR"


def meaning(argument):
    words = " ".join(" ".join(filter(None, [argument.get("abstract"), argument.get("discussion")])).split())
    values, default = argument.get("allValues", []), argument.get("defaultValue")
    if not all(value in words for value in values):
        words += f" One of {', '.join(values)}."
    if default and "default:" not in words:
        # The page must be the same on all machines, so it does not contain the name of this machine.
        words += f" (default: {'the name of the machine' if default == socket.gethostname() else default})"
    return words.strip()


def argument_lines(arguments):
    return [line for argument in arguments for line in (".TP", argument_term(argument), escaped(meaning(argument)) or "\\&")]


def shown(command):
    return [part for part in command.get("arguments", []) if part.get("shouldDisplay", True)]


def usage(name, arguments, term, options):
    words = [name] + ([options] if any(part["kind"] != "positional" for part in arguments) else [])
    for part in arguments:
        if part["kind"] == "positional":
            word = term(part) + (" ..." if part.get("isRepeating") else "")
            words.append(f"[{word}]" if part.get("isOptional") else word)
    return " ".join(words)


def commands(path, command):
    """Yields the words and the description of each command that has no subcommands."""
    inner = [part for part in command.get("subcommands", []) if part["commandName"] != "help" and part["shouldDisplay"]]
    if not inner:
        yield path, command
    for part in inner:
        yield from commands([*path, part["commandName"]], part)


def usual(argument):
    """Returns whether every command has this argument. Such arguments are listed once, for the program."""
    return any(name["name"] in ("help", "version") for name in argument.get("names", []))


def program(version):
    command = json.load(sys.stdin)["command"]
    name = command["commandName"]
    lines = page(name, SECTIONS[name], command["abstract"], version)
    lines += [".SH SYNOPSIS", f".B {escaped(name)}", "\\fIcommand\\fR [\\fIoptions\\fR]"]
    lines += [".SH DESCRIPTION", *paragraphs(command.get("discussion", ""))]
    lines += [".SH OPTIONS", *argument_lines(shown(command)), ".SH COMMANDS"]
    for path, part in commands([name], command):
        synopsis = usage(f"\\fB{escaped(' '.join(path))}\\fR", shown(part), argument_term, "[\\fIoptions\\fR]")
        lines += [f'.SS "{escaped(" ".join(path[1:]))}"', synopsis, *paragraphs(part["abstract"])]
        if part.get("discussion"):
            lines += paragraphs(part["discussion"])
        lines += argument_lines([argument for argument in shown(part) if not usual(argument)])
    others = {"plugd": ["plugd.toml", 5, "plugctl", 1], "plugctl": ["plugd", 8]}[name]
    told = ", ".join(f"\\fB{escaped(other)}\\fR({section})" for other, section in zip(others[::2], others[1::2]))
    return lines + [".SH SEE ALSO", told]


def tables(text):
    """Returns the comments before the first table, and each table as (name, its comment, [(keys, their comment)]).

    A comment describes the table in [ ] that follows it, or the keys up to the next comment. A key is listed with an example.
    """
    head, found, prose = [], [], []
    for line in text.split("\n"):
        if table := re.fullmatch(r"#*\[(\w+)\]", line):
            found.append((table[1], prose, []))
            prose = []
        elif comment := re.fullmatch(r"#+ (.*)|#", line):
            prose.append(comment[1] or "")
        elif key := re.fullmatch(r"#*(\w+ = .*)", line):
            entries = found[-1][2]
            if prose or not entries:
                entries.append(([], prose))
                prose = []
            entries[-1][0].append(key[1])
        elif line:
            sys.exit(f"no comment, table or key: {line}")
        elif not found:
            head, prose = head + [*prose, ""], []
    return head, found


def configuration(version):
    head, found = tables(sys.stdin.read())
    lines = page("plugd.toml", 5, "configuration of the parts and the behaviour of a smart plug", version)
    lines += [".SH DESCRIPTION", *paragraphs("\n".join(head))]
    for name, prose, entries in found:
        lines += [f'.SH "[{escaped(name)}]"', *paragraphs("\n".join(prose))]
        for keys, told in entries:
            lines += [".TP", *"\n.TQ\n".join(f"\\fB{escaped(key)}\\fR" for key in keys).split("\n")]
            lines += [escaped(text) for text in told] or ["\\&"]
    return lines + [".SH SEE ALSO", "\\fBplugd\\fR(8)"]


if __name__ == "__main__":
    made = {"program": program, "configuration": configuration}[sys.argv[1]](sys.argv[2])
    print("\n".join(made))
