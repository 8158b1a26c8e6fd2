extension BrokenFile {
    /// Files with mistakes in names, structure and limits.
    static let shapes = [
        BrokenFile(
            "duplicate name",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }
            - rule: A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:9: error: duplicate rule name 'A', first used at line 1
              4 | - rule: A
                |         ^
              hint: choose a different name; logs and commands identify rules by name
            """),
        BrokenFile(
            "wrong value in an alias",
            """
            - rule: A
              when: &w { plug: TV, button: often }
              then: *w

            """,
            """
            rules.yaml:2:14: error: 'plug' is not known in an action
              2 |   when: &w { plug: TV, button: often }
                |              ^
              hint: use one of turn on, turn off, toggle, dim, restore, wait, timeout, wait until, otherwise, notify, run, web hook, wake
            rules.yaml:2:24: error: 'button' is not known in an action
              2 |   when: &w { plug: TV, button: often }
                |                        ^
              hint: use one of turn on, turn off, toggle, dim, restore, wait, timeout, wait until, otherwise, notify, run, web hook, wake
            rules.yaml:2:32: error: 'often' is not a value of 'button'
              2 |   when: &w { plug: TV, button: often }
                |                                ^
              hint: use one of pressed, single, double, long
            """),
        BrokenFile(
            "a file that is not a list",
            """
            rule: A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:7: error: not valid YAML: mapping values are not allowed in this context
              2 |   when: { plug: TV, button: pressed }
                |       ^
              hint: check the indentation of the previous line, and quote text that contains ': '
            """),
        BrokenFile(
            "plain text",
            """
            movie night
            """,
            """
            rules.yaml:1:1: error: a rule file is a list of rules
              1 | movie night
                | ^
              hint: begin each rule with '- rule: NAME'
            """),
        BrokenFile(
            "list entries that are not rules",
            """
            - movie night
            - [a]
            - rule: [A]
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:3: error: a rule is a mapping, not a single value
              1 | - movie night
                |   ^
              hint: write it as { rule: Light, when: { plug: Hall, button: pressed }, then: { toggle: Lamp } }
            rules.yaml:2:3: error: a rule is a mapping, not a list
              2 | - [a]
                |   ^
              hint: write it as { rule: Light, when: { plug: Hall, button: pressed }, then: { toggle: Lamp } }
            rules.yaml:3:9: error: 'rule' must be a single value, not a list
              3 | - rule: [A]
                |         ^
              hint: write 'rule: VALUE'
            """),
        BrokenFile(
            "empty name",
            """
            - rule:
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:8: error: 'rule' is empty
              1 | - rule:
                |        ^
              hint: write a value after the colon
            """),
        BrokenFile(
            "two actions in one entry",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              then:
                - turn on: A
                  turn off: B
                - {}

            """,
            """
            rules.yaml:5:7: error: an action has 'turn on' or 'turn off', not both
              5 |       turn off: B
                |       ^
              hint: begin each action with '- '
            rules.yaml:6:7: error: an action needs 'turn on', 'turn off', 'toggle', 'dim', 'restore', 'wait', 'wait until', 'notify', 'run', 'web hook' or 'wake'
              6 |     - {}
                |       ^
              hint: write { turn on: Lamp }
            """),
        BrokenFile(
            "mapping for a plug",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              then: { turn off: { plug: A } }

            """,
            """
            rules.yaml:3:21: error: 'turn off' must be one or a list of plugs, not a mapping
              3 |   then: { turn off: { plug: A } }
                |                     ^
              hint: write 'turn off: Floor Lamp'
            """),
        BrokenFile(
            "a key that is not a text",
            """
            - ? [a, b]
              : c

            """,
            """
            rules.yaml:1:5: error: a key must be plain text
              1 | - ? [a, b]
                |     ^
              hint: write 'key: value'; a list entry begins with '- '
            """),
        BrokenFile(
            "tag",
            """
            - rule: !secret A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:9: error: unknown tag '!secret'
              1 | - rule: !secret A
                |         ^
              hint: delete it; rule files do not use tags
            """),
        BrokenFile(
            "control character",
            """
            - rule: A\u{07}
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:10: error: the character U+0007 is not allowed in a rule file
              1 | - rule: A?
                |          ^
              hint: delete it; it may be invisible in your editor
            """),
        BrokenFile(
            "right-to-left override",
            """
            - rule: Lamp\u{202E}ffo
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:13: error: the character U+202E is not allowed in a rule file
              1 | - rule: Lamp?ffo
                |             ^
              hint: delete it; it may be invisible in your editor
            """),
        BrokenFile(
            "name too long",
            """
            - rule: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:9: error: a name may have at most 63 bytes, but this one has 64
              1 | - rule: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                |         ^
              hint: shorten it; non-ASCII characters take two or more bytes
            """),
        BrokenFile(
            "nested too deep",
            """
            - - - - - - - - - - - - - - - - - x

            """,
            """
            rules.yaml:1:33: error: lists and mappings are nested more than 16 deep
              1 | - - - - - - - - - - - - - - - - - x
                |                                 ^
              hint: check for an open bracket; nested conditions can be six levels deep, or more without lists
            """),
        BrokenFile(
            "letters beyond ASCII",
            """
            - rule: Größe 😀
              when: { plug: Küche, buton: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:24: error: 'buton' is not known in a trigger
              2 |   when: { plug: Küche, buton: pressed }
                |                        ^
              hint: did you mean 'button'?
            """),
    ]
}
