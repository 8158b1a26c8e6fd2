extension BrokenFile {
    /// Files that are not valid YAML, or use YAML features that rule files do not allow.
    static let yaml = [
        BrokenFile(
            "an escape that reverses the display order of the text",
            """
            - rule: "A\\u202Eb"
              when: { plug: TV, button: long }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:9: error: an escape makes the text after it appear in another order than it is stored
              1 | - rule: "A\\u202Eb"
                |         ^
              hint: delete \\u202A to \\u202E and \\u2066 to \\u2069
            """),
        BrokenFile(
            "more arguments than a command may have",
            "- rule: A\n  when: { plug: TV, button: long }\n  then:\n    - run:\n"
                + String(repeating: "        - a\n", count: 65),
            """
            rules.yaml:69:11: error: more than 64 words of a command in one list
              69 |         - a
                 |           ^
              hint: put them into a script file and run that
            """),
        BrokenFile(
            "duplicate key in a block",
            """
            - rule: A
              when:
                plug: TV
                button: long
                plug: Lamp
              then: { toggle: TV }

            """,
            """
            rules.yaml:5:5: error: duplicate key 'plug', first used at line 3
              5 |     plug: Lamp
                |     ^
              hint: use each key once; write several values as a list: [A, B]
            """),
        BrokenFile(
            "duplicate key in braces",
            """
            - rule: A
              when: { plug: TV, button: long, plug: Lamp }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:35: error: duplicate key 'plug', first used at line 2
              2 |   when: { plug: TV, button: long, plug: Lamp }
                |                                   ^
              hint: use each key once; write several values as a list: [A, B]
            """),
        BrokenFile(
            "brace left open",
            """
            - rule: A
              when: { plug: TV, button: pressed
              then: { toggle: TV }

            """,
            """
            rules.yaml:3:7: error: not valid YAML: did not find expected ',' or '}' (while parsing a flow mapping at line 2)
              3 |   then: { toggle: TV }
                |       ^
              hint: check for a missing comma or closing bracket
            """),
        BrokenFile(
            "tab",
            """
            - rule: A
            \twhen: x

            """,
            """
            rules.yaml:2:1: error: not valid YAML: found a tab character that violates indentation (while scanning a plain scalar at line 1)
              2 | \twhen: x
                | ^
              hint: indent with spaces, not with tabs
            """),
        BrokenFile(
            "colon in text",
            """
            - rule: Movie: night
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:14: error: not valid YAML: mapping values are not allowed in this context
              1 | - rule: Movie: night
                |              ^
              hint: check the indentation of the previous line, and quote text that contains ': '
            """),
        BrokenFile(
            "quote left open",
            """
            - rule: "A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:9: error: not valid YAML: found unexpected end of stream (while scanning a quoted scalar at line 1)
              1 | - rule: "A
                |         ^
              hint: check for a missing closing quote
            """),
        BrokenFile(
            "indentation",
            """
            - rule: A
             when: x

            """,
            """
            rules.yaml:2:2: error: not valid YAML: did not find expected '-' indicator (while parsing a block collection at line 1)
              2 |  when: x
                |  ^
              hint: begin all entries of a list or mapping in the same column
            """),
        BrokenFile(
            "reserved character",
            """
            - rule: @home
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:9: error: not valid YAML: found character that cannot start any token (while scanning for the next token at line 1)
              1 | - rule: @home
                |         ^
              hint: put text that begins with '@' in quotes
            """),
        BrokenFile(
            "two documents",
            """
            ---
            - rule: A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }
            ---
            - rule: A
              when: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:5:1: error: a second document begins here
              5 | ---
                | ^
              hint: a rule file must be one document; delete the line '---'
            """),
        BrokenFile(
            "alias without anchor",
            """
            - rule: A
              when: *evening
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:9: error: the alias '*evening' has no anchor before it
              2 |   when: *evening
                |         ^
              hint: write '&evening' before the value that it refers to, or quote the text
            """),
        BrokenFile(
            "a star instead of a dash",
            """
            * rule: A

            """,
            """
            rules.yaml:1:1: error: a key must be plain text
              1 | * rule: A
                | ^
              hint: write 'key: value'; a list entry begins with '- '
            """),
    ]
}
