import PlugModel
import ProtocolCore

/// The stored form of firings and effects. A firing's cause is stored in words, because the next process only reports
/// it.
extension MemoryWriter {
    mutating func put(firing: Firing) {
        put(firing.id.bytes)
        put(firing.rule)
        put(firing.time)
        put("\(firing.cause)")
        put(optional: firing.cause.plug) { $0.put($1) }
        put(optional: firing.cause.value) { $0.put($1) }
        put(firing.cause.event)
        put(optional: firing.cause.age) { $0.put($1) }
        put(optional: firing.cause.since) { $0.put($1) }
        put(UInt16(min(firing.judged.count, StoredRuleState.maximumJudged)))
        for held in firing.judged.prefix(StoredRuleState.maximumJudged) { put(held) }
    }

    mutating func put(_ effect: StoredRuleState.Effect) {
        put(effect.request.id.bytes)
        put(firing: effect.request.firing)
        put(effect.until)
        switch effect.request.effect {
        case .notify(let title, let text):
            put(UInt8(0))
            put(words: title)
            put(words: text)
        case .run(let words, let timeout):
            put(UInt8(1))
            put(UInt16(words.count))
            for word in words { put(words: word) }
            put(timeout)
        case .webHook(let hook):
            put(UInt8(2))
            put(words: hook.url)
            put(words: hook.method)
            put(optional: hook.body) { $0.put(words: $1) }
        }
    }
}

extension MemoryReader {
    /// Reads a firing. Its times are on the clock of the boot that wrote it.
    mutating func firing() throws(StateDecodingError) -> Firing {
        let id = try requestID()
        let rule = try text()
        let time = try instant()
        let words = try text()
        let cause = Firing.Cause(
            .told(words), plug: try optional { (input) throws(StateDecodingError) in try input.text() },
            value: try optional { (input) throws(StateDecodingError) in try input.double() }, event: try cursor(),
            age: try optional { (input) throws(StateDecodingError) in try input.duration() },
            since: try optional { (input) throws(StateDecodingError) in try input.instant() })
        var firing = Firing(id: id, rule: rule, cause: cause, time: time)
        for _ in 0..<(try count(StoredRuleState.maximumJudged)) { firing.judged.append(try flag()) }
        return firing
    }

    mutating func effect() throws(StateDecodingError) -> StoredRuleState.Effect {
        let id = try requestID()
        let firing = try firing()
        let until = try instant()
        let request = EffectRequest(id: id, effect: try outside(), firing: firing)
        return StoredRuleState.Effect(request: request, until: until)
    }

    private mutating func outside() throws(StateDecodingError) -> EffectRequest.Effect {
        let kind: UInt8 = try integer()
        switch kind {
        case 0: return .notify(title: try words(), text: try words())
        case 1:
            var program: [String] = []
            for _ in 0..<(try count(StoredRuleState.Effect.maximumArguments)) { program.append(try words()) }
            return .run(program, timeout: try duration())
        case 2:
            var hook = WebHook(url: try words(), method: try words())
            hook.body = try optional { (input) throws(StateDecodingError) in try input.words() }
            return .webHook(hook)
        case _: throw fault("an effect")
        }
    }
}
