extension BrokenFile {
    /// Returns a rule with this trigger and this action.
    private static func rule(when: String, then: String = "{ toggle: TV }") -> String {
        "- rule: A\n  when: \(when)\n  then: \(then)\n"
    }

    /// Files with keys of other systems, and mistakes in schedules, waits and effects.
    static let words = [
        BrokenFile(
            "Home Assistant's words",
            rule(when: "{ plug: TV, active power: { above: 40 W } }", then: "[{ delay: 3 s }, { service: light.on }]"),
            """
            rules.yaml:2:37: error: 'above' is not known in 'active power'
              2 |   when: { plug: TV, active power: { above: 40 W } }
                |                                     ^
              hint: this is Home Assistant syntax; write: rises above: 40 W
            rules.yaml:3:12: error: 'delay' is not known in an action
              3 |   then: [{ delay: 3 s }, { service: light.on }]
                |            ^
              hint: this is Home Assistant syntax; write: wait: 10 s
            rules.yaml:3:28: error: 'service' is not known in an action
              3 |   then: [{ delay: 3 s }, { service: light.on }]
                |                            ^
              hint: this is Home Assistant syntax; write: the key itself, as in turn on: Lamp
            """),
        BrokenFile(
            "enabled", rule(when: "{ plug: TV, button: long }") + "  enabled: no\n",
            """
            rules.yaml:4:3: error: 'enabled' is not known in a rule
              4 |   enabled: no
                |   ^
              hint: to disable a rule, use plugctl rules disable NAME
            """),
        BrokenFile(
            "a key that is valid only with another key", rule(when: "{ plug: TV, button: long, cycle: defrost }"),
            """
            rules.yaml:2:35: error: 'cycle' cannot be used with 'button'
              2 |   when: { plug: TV, button: long, cycle: defrost }
                |                                   ^
              hint: use it with 'appliance'
            """),
        BrokenFile(
            "cron", rule(when: "[{ cron: '*/0 * * * *' }, { cron: '* * *' }, { cron: '0 20-6 * * *' }]"),
            """
            rules.yaml:2:18: error: '*/0' has no valid step, in the field minute
              2 |   when: [{ cron: '*/0 * * * *' }, { cron: '* * *' }, { cron: '0 20-6 * * *' }]
                |                  ^
              hint: write a number of at least 1 after '/', such as */15
            rules.yaml:2:43: error: a cron schedule has five fields, this one has 3
              2 |   when: [{ cron: '*/0 * * * *' }, { cron: '* * *' }, { cron: '0 20-6 * * *' }]
                |                                           ^
              hint: minute, hour, day of the month, month, day of the week: "*/15 6-9 * * mon-fri"
            rules.yaml:2:62: error: '20-6' ends before it begins, in the field hour
              2 |   when: [{ cron: '*/0 * * * *' }, { cron: '* * *' }, { cron: '0 20-6 * * *' }]
                |                                                              ^
              hint: write 20-23,0-6
            """),
        BrokenFile(
            "a wait without a timeout",
            rule(when: "{ sun: sunset, offset: -13 h }", then: "{ wait until: { plug: A, relay: on } }"),
            """
            rules.yaml:2:32: error: '-13 h' is out of range
              2 |   when: { sun: sunset, offset: -13 h }
                |                                ^
              hint: from -12 h to 12 h
            rules.yaml:3:9: error: an action with 'wait until' needs 'timeout'
              3 |   then: { wait until: { plug: A, relay: on } }
                |         ^
              hint: add 'timeout: ...'
            """),
        BrokenFile(
            "effects",
            rule(
                when: "{ rule: B }",
                then: "[{ run: notify-send hello }, { web hook: 'ftp://a' }, { notify: '{plgu} {{ x }}' }]"),
            """
            rules.yaml:3:17: error: commands run without a shell, so 'notify-send hello' would be the name of the program
              3 |   then: [{ run: notify-send hello }, { web hook: 'ftp://a' }, { notify: '{plgu} {{ x }}' }]
                |                 ^
              hint: write it as a list: [notify-send, hello]
            rules.yaml:3:50: error: 'ftp://a' is not a web address
              3 |   then: [{ run: notify-send hello }, { web hook: 'ftp://a' }, { notify: '{plgu} {{ x }}' }]
                |                                                  ^
              hint: begin it with http:// or https://
            rules.yaml:3:73: error: templates are not supported
              3 |   then: [{ run: notify-send hello }, { web hook: 'ftp://a' }, { notify: '{plgu} {{ x }}' }]
                |                                                                         ^
              hint: use placeholders in single braces: {rule}, {plug}, {value}, {why}, {time}
            """),
        BrokenFile(
            "a list within 'not'",
            rule(when: "{ plug: TV, button: long }") + "  if: { not: [{ weekdays: sun }] }\n",
            """
            rules.yaml:4:14: error: a condition is a mapping, not a list
              4 |   if: { not: [{ weekdays: sun }] }
                |              ^
              hint: write it as { plug: Amplifier, relay: on }
            """),
    ]
}
