extension BrokenFile {
    /// Files that are valid YAML but not valid rules.
    static let rules = [
        BrokenFile(
            "the names . and .., which a URL path cannot contain",
            """
            - rule: ..
              when: { plug: TV, button: pressed }
              then: { toggle: . }

            """,
            """
            rules.yaml:1:9: error: '..' is not a valid name
              1 | - rule: ..
                |         ^
              hint: add a letter
            rules.yaml:3:19: error: '.' is not a valid name
              3 |   then: { toggle: . }
                |                   ^
              hint: add a letter
            """),
        BrokenFile(
            "misspelt key",
            """
            - rule: A
              when:
                plug: Television
                active power: { rises abov: 40 W, for: 3 s }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:21: error: 'rises abov' is not known in 'active power'
              4 |     active power: { rises abov: 40 W, for: 3 s }
                |                     ^
              hint: did you mean 'rises above'?
            """),
        BrokenFile(
            "misspelt key of a rule",
            """
            - rule: A
              wen: { plug: TV, button: pressed }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:3: error: 'wen' is not known in a rule
              2 |   wen: { plug: TV, button: pressed }
                |   ^
              hint: did you mean 'when'?
            """),
        BrokenFile(
            "misspelt and unknown action",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              then:
                - turn of: Lamp
                - explode: Lamp

            """,
            """
            rules.yaml:4:7: error: 'turn of' is not known in an action
              4 |     - turn of: Lamp
                |       ^
              hint: did you mean 'turn off'?
            rules.yaml:5:7: error: 'explode' is not known in an action
              5 |     - explode: Lamp
                |       ^
              hint: use one of turn on, turn off, toggle, dim, restore, wait, timeout, wait until, otherwise, notify, run, web hook, wake
            """),
        BrokenFile(
            "units missing, unknown, negative",
            """
            - rule: A
              when:
                plug: TV
                active power: { rises above: 40, for: 3 sec, hysteresis: -1 W }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:34: error: '40' has no unit
              4 |     active power: { rises above: 40, for: 3 sec, hysteresis: -1 W }
                |                                  ^
              hint: write it as 40 W
            rules.yaml:4:43: error: unknown unit 'sec'
              4 |     active power: { rises above: 40, for: 3 sec, hysteresis: -1 W }
                |                                           ^
              hint: did you mean 3 s?
            rules.yaml:4:62: error: '-1 W' is out of range
              4 |     active power: { rises above: 40, for: 3 sec, hysteresis: -1 W }
                |                                                              ^
              hint: 0 W or more
            """),
        BrokenFile(
            "a duration without a unit",
            """
            - rule: A
              when: { plug: TV, active power: { rises above: 40 W, for: 3 } }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:61: error: '3' has no unit
              2 |   when: { plug: TV, active power: { rises above: 40 W, for: 3 } }
                |                                                             ^
              hint: write it as 3 s, 3 min, 3 h
            """),
        BrokenFile(
            "decimal comma in braces",
            """
            - rule: A
              when:
                plug: TV
                active power: { rises above: 1,5 kW }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:34: error: '1' has no unit
              4 |     active power: { rises above: 1,5 kW }
                |                                  ^
              hint: write it as 1 W
            rules.yaml:4:36: error: '5 kW' is not known in 'active power'
              4 |     active power: { rises above: 1,5 kW }
                |                                    ^
              hint: use a point as the decimal separator, not a comma
            """),
        BrokenFile(
            "the units MW and days",
            """
            - rule: A
              when: { plug: TV, active power: { falls below: 40 MW, for: 40 days } }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:50: error: unknown unit 'MW'
              2 |   when: { plug: TV, active power: { falls below: 40 MW, for: 40 days } }
                |                                                  ^
              hint: did you mean 40 mW?
            rules.yaml:2:62: error: unknown unit 'days'
              2 |   when: { plug: TV, active power: { falls below: 40 MW, for: 40 days } }
                |                                                              ^
              hint: did you mean 40 d?
            """),
        BrokenFile(
            "dim out of range",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              then:
                - dim: { plug: Lamp, to: 130 %, over: 2 h }
                - dim: { plug: Lamp, to: 30, over: 2 s }

            """,
            """
            rules.yaml:4:30: error: '130 %' is out of range
              4 |     - dim: { plug: Lamp, to: 130 %, over: 2 h }
                |                              ^
              hint: from 0 % to 100 %
            rules.yaml:4:43: error: '2 h' is out of range
              4 |     - dim: { plug: Lamp, to: 130 %, over: 2 h }
                |                                           ^
              hint: from 0 s to 1 h
            rules.yaml:5:30: error: '30' has no unit
              5 |     - dim: { plug: Lamp, to: 30, over: 2 s }
                |                              ^
              hint: write it as 30 %
            """),
        BrokenFile(
            "no actions",
            """
            - rule: A
              when: { plug: TV, button: pressed }

            """,
            """
            rules.yaml:1:3: error: a rule needs 'then'
              1 | - rule: A
                |   ^
              hint: add 'then: ...'
            """),
        BrokenFile(
            "no name, no kind of trigger",
            """
            - when: { plug: TV }
              then: { toggle: TV }

            """,
            """
            rules.yaml:1:3: error: a rule needs 'rule'
              1 | - when: { plug: TV }
                |   ^
              hint: add 'rule: ...'
            rules.yaml:1:9: error: a trigger needs 'active power', 'active energy', 'button', 'relay', 'connection', 'protection' or 'appliance'
              1 | - when: { plug: TV }
                |         ^
              hint: write { plug: Hall, button: pressed }
            """),
        BrokenFile(
            "no plug, no action",
            """
            - rule: A
              when: { button: pressed }
              then: []

            """,
            """
            rules.yaml:2:9: error: a trigger with 'button' needs 'plug'
              2 |   when: { button: pressed }
                |         ^
              hint: add 'plug: ...'
            rules.yaml:3:9: error: the list of actions is empty
              3 |   then: []
                |         ^
              hint: write at least one entry, each after '- '
            """),
        BrokenFile(
            "no direction",
            """
            - rule: A
              when: { plug: TV, active power: { for: 3 s } }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:35: error: 'active power' needs 'rises above', 'falls below' or 'stays between'
              2 |   when: { plug: TV, active power: { for: 3 s } }
                |                                   ^
              hint: write { rises above: 40 W, for: 3 s }
            """),
        BrokenFile(
            "two kinds of trigger",
            """
            - rule: A
              when: { plug: TV, active power: { rises above: 4 W, falls below: 2 W }, button: long }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:75: error: a trigger has 'active power' or 'button', not both
              2 |   when: { plug: TV, active power: { rises above: 4 W, falls below: 2 W }, button: long }
                |                                                                           ^
              hint: make 'when' a list of two triggers: either fires the rule
            """),
        BrokenFile(
            "two directions",
            """
            - rule: A
              when:
                plug: TV
                active power: { rises above: 4 W, falls below: 2 W }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:39: error: 'active power' has 'rises above' or 'falls below', not both
              4 |     active power: { rises above: 4 W, falls below: 2 W }
                |                                       ^
              hint: make 'when' a list of two triggers: either fires the rule
            """),
        BrokenFile(
            "misspelt press",
            """
            - rule: A
              when: { plug: TV, button: tripple }
              then: { toggle: TV }

            """,
            """
            rules.yaml:2:29: error: 'tripple' is not a value of 'button'
              2 |   when: { plug: TV, button: tripple }
                |                             ^
              hint: use one of pressed, single, double, long
            """),
        BrokenFile(
            "times of day",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              if:
                time: { after: 5 pm, before: "25:00" }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:20: error: '5 pm' is not a time of day
              4 |     time: { after: 5 pm, before: "25:00" }
                |                    ^
              hint: write it as "17:00", from "00:00" to "24:00", or as sunrise or sunset
            rules.yaml:4:34: error: '25:00' is not a time of day
              4 |     time: { after: 5 pm, before: "25:00" }
                |                                  ^
              hint: write it as "17:00", from "00:00" to "24:00", or as sunrise or sunset
            """),
        BrokenFile(
            "conditions",
            """
            - rule: A
              when: { plug: TV, button: pressed }
              if:
                - time: { after: "17:00", before: "17:00" }
                - holiday: monday
                - plug: Lamp
                - { plug: Lamp, relay: of }
              then: { toggle: TV }

            """,
            """
            rules.yaml:4:13: error: 'after' and 'before' are the same time
              4 |     - time: { after: "17:00", before: "17:00" }
                |             ^
              hint: delete 'time' if the rule applies all day
            rules.yaml:5:7: error: 'holiday' is not known in a condition
              5 |     - holiday: monday
                |       ^
              hint: use one of time, weekdays, plug, relay, level, active power, connection, all, any, not
            rules.yaml:6:7: error: a condition needs 'relay', 'level', 'active power' or 'connection'
              6 |     - plug: Lamp
                |       ^
              hint: write { plug: Amplifier, relay: on }
            rules.yaml:7:28: error: 'of' is not a value of 'relay'
              7 |     - { plug: Lamp, relay: of }
                |                            ^
              hint: did you mean 'off'?
            """),
    ]
}
