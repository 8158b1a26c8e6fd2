import PlugProtocol
import ProtocolCore

extension RuleEngine {
    mutating func effect(_ action: RuleAction, at place: Int, _ firing: Firing, _ actions: inout [Action]) {
        let effect: EffectRequest.Effect
        switch action {
        case .notify(let title, let text):
            effect = .notify(title: title.map { filled($0, firing) } ?? firing.rule, text: filled(text, firing))
        case .run(let command, let timeout):
            // The program is what the rule says, whatever a plug calls itself.
            effect = .run(command.prefix(1) + command.dropFirst().map { filled($0, firing) }, timeout: timeout)
        case .webHook(var hook):
            hook.body = hook.body.map { filled($0, firing) }
            effect = .webHook(hook)
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil: return
        }
        actions.append(.effect(EffectRequest(id: firing.id.part(action: place), effect: effect, firing: firing)))
    }

    /// With `{rule}`, `{plug}`, `{value}`, `{why}` and `{time}` filled in, once: what they bring is not looked at again.
    private func filled(_ text: String, _ firing: Firing) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            filled += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}"), let value = placeholder(rest[...close], firing) else {
                filled += "{"
                rest = rest.dropFirst()
                continue
            }
            filled += value
            rest = rest[close...].dropFirst()
        }
        return filled + rest
    }

    private func placeholder(_ name: Substring, _ firing: Firing) -> String? {
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
