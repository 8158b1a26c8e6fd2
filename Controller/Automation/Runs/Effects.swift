import PlugModel
import ProtocolCore
import RuleModel

extension EffectRequest {
    /// Creates the effect of an action; nil if the action has none.
    init?(_ action: RuleAction, id: RequestID, _ firing: Firing, _ localTime: LocalTime?) {
        let texts = EffectTexts(firing: firing, localTime: localTime)
        let effect: Effect
        switch action {
        case .notify(let title, let text):
            effect = .notify(title: title.map { texts.filled($0) } ?? firing.rule, text: texts.filled(text))
        case .run(let command, let timeout):
            // The plug's name must not become part of a command line. The event on standard input contains it.
            effect = .run(command, timeout: timeout)
        case .webHook(var hook):
            hook.body = hook.body.map { body in
                // An inserted value must not end the JSON string around its placeholder.
                let isJSON = body.looksLikeJSON
                return texts.filled(body) { isJSON ? $0.escapedForJSON : $0 }
            }
            effect = .webHook(hook)
        case .wake(let machine): effect = .wake(machine)
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .call: return nil
        }
        self.init(id: id, effect: effect, firing: firing)
    }
}

/// The values of the placeholders in the texts of a firing's effects.
private struct EffectTexts {
    let firing: Firing
    let localTime: LocalTime?

    /// Fills `{rule}`, `{plug}`, `{value}`, `{why}` and `{time}`, once: placeholders in inserted values are not filled.
    func filled(_ text: String, _ written: (String) -> String = { $0 }) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            filled += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}"), let value = placeholder(rest[...close]) else {
                filled += "{"
                rest = rest.dropFirst()
                continue
            }
            filled += written(value)
            rest = rest[close...].dropFirst()
        }
        return filled + rest
    }

    private func placeholder(_ name: Substring) -> String? {
        switch name {
        case "{rule}": firing.rule
        case "{plug}": firing.cause.plug ?? ""
        case "{value}": firing.cause.value.map(\.decimal) ?? ""
        case "{why}": "\(firing.cause)"
        case "{time}": localTime?.timeOfDay(at: firing.time).map { String("\($0)".prefix(5)) } ?? ""
        case _: nil
        }
    }
}

extension String {
    /// True if the text begins like a JSON object or array. A placeholder at the start does not count.
    fileprivate var looksLikeJSON: Bool {
        let start = drop { $0.isWhitespace }
        if start.hasPrefix("[") { return true }
        let placeholders = ["{rule}", "{plug}", "{value}", "{why}", "{time}"]
        return start.hasPrefix("{") && !placeholders.contains { start.hasPrefix($0) }
    }

    /// The text as the content of a JSON string (RFC 8259, section 7).
    fileprivate var escapedForJSON: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "\u{0}"..."\u{f}": escaped += "\\u000\(String(scalar.value, radix: 16))"
            case "\u{10}"..."\u{1f}": escaped += "\\u00\(String(scalar.value, radix: 16))"
            case _: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
