/// Keys that users write although this grammar lacks them, mostly from other systems. They are grouped by the mapping
/// in which users write them. Each has a hint about the equivalent in this grammar.
enum ForeignWords {
    /// Returns the hint for an unknown key; nil if the key is not in the tables.
    static func hint(_ word: String, in mapping: String) -> String? {
        if let own = own[mapping]?[word] { return own }
        return homeAssistant[mapping]?[word].map { "this is Home Assistant syntax; write: \($0)" }
    }

    /// The keys of all tables, by mapping.
    static var all: [(mapping: String, words: [String])] {
        (own.map { $0 } + homeAssistant.map { $0 }).map { ($0.key, Array($0.value.keys)) }
    }

    /// Keys that users expect in this grammar.
    private static let own = [
        "rule": [
            "enabled": "to disable a rule, use plugctl rules disable NAME",
            "name": "write the name as the value of 'rule'",
        ]
    ]

    private static let homeAssistant = [
        "rule": [
            "alias": "rule: NAME", "id": "rule: NAME", "description": "a comment after #",
            "trigger": "when", "triggers": "when", "condition": "if", "conditions": "if", "action": "then",
            "actions": "then", "sequence": "then", "max": "mode: { queued: 5 }",
            "initial_state": "plugctl rules disable NAME", "variables": "write the values where they are used",
        ],
        "trigger": [
            "trigger": "the key itself, as in button: pressed", "platform": "the key itself, as in button: pressed",
            "entity_id": "plug: NAME", "device_id": "plug: NAME", "above": "active power: { rises above: 40 W }",
            "below": "active power: { falls below: 20 W }", "to": "relay: on", "from": "relay: off", "at": "time",
            "event": "sun: sunset", "event_type": "button: pressed", "minutes": "cron: \"*/15 * * * *\"",
            "hours": "cron: \"0 */2 * * *\"", "state": "relay: on", "numeric_state": "active power: { ... }",
            "weekday": "weekdays", "id": "leave it out",
        ],
        "powerEdge": ["above": "rises above: 40 W", "below": "falls below: 20 W"],
        "condition": [
            "condition": "the key itself, as in relay: on", "entity_id": "plug: NAME", "state": "relay: on",
            "above": "active power: { above: 40 W }", "below": "active power: { below: 5 W }",
            "after": "time: { after: \"17:00\" }", "before": "time: { before: \"23:00\" }", "weekday": "weekdays",
            "and": "all", "or": "any", "conditions": "all, any or not with a list", "sun": "time: { after: sunset }",
        ],
        "action": [
            "service": "the key itself, as in turn on: Lamp", "action": "the key itself, as in turn on: Lamp",
            "entity_id": "turn on: NAME", "target": "turn on: NAME", "device_id": "turn on: NAME",
            "data": "the value of the action's key", "delay": "wait: 10 s",
            "wait_template": "wait until: { plug: NAME, relay: off }",
            "wait_for_trigger": "wait until: { plug: NAME, relay: off }", "scene": "turn on, turn off, dim or restore",
            "choose": "several rules, each with its 'if'", "if": "the rule's own 'if', or several rules",
            "repeat": "a rule that triggers itself again", "continue_on_timeout": "otherwise: go on",
            "parallel": "several rules with the same 'when'", "stop": "several rules, each with its 'if'",
        ],
        "dim": [
            "brightness": "to: 30 %", "brightness_pct": "to: 30 %", "brightness_step_pct": "by: -10 %",
            "transition": "over: 2 s",
        ],
        "notification": ["message": "text", "data": "only title and text are supported"],
        "window": ["weekday": "weekdays, next to 'time'"],
        "webHook": ["payload": "body", "content_type": "omit it; the type is always JSON"],
    ]
}
