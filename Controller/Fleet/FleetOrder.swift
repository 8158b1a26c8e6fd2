import JSONText
public import PlugModel

/// A plug of a house that is to be switched.
public struct FleetOrder: Hashable, Sendable {
    public var house: String
    public var plug: PlugID
    public var on: Bool

    public init(house: String, plug: PlugID, on: Bool) {
        self.house = house
        self.plug = plug
        self.on = on
    }

    var payload: String {
        var message = JSONObject()
        message.add("on", on)
        return message.text
    }
}

/// What became of an order.
public enum FleetOutcome: Hashable, Sendable {
    /// The plug did it, or was so already.
    ///
    /// - event: the number of the event that records it; nil where nothing changed.
    case done(on: Bool, event: SequenceNumber?)
    /// It is not done, and why, for a person.
    case refused(String)
    /// Nobody answered. It is not carried out from now on; whether it was before nobody knows.
    case unanswered
    /// It never left.
    case unreachable(String)
}

extension FleetOutcome {
    /// Bytes of an answer that are read: far more than one has.
    private static let answerLimit = 4096
    /// Bytes of a reason that are shown.
    private static let detailLimit = 300

    /// - Parameter payload: of an answer to a command (`Documentation/mqtt.md`).
    init(answer payload: [UInt8]) {
        guard payload.count <= Self.answerLimit, let values = try? JSONScalars(payload).values,
            case .boolean(let isDone)? = values["done"]
        else {
            self = .refused("the house's answer is not to be understood")
            return
        }
        guard isDone else {
            let words = [values["detail"], values["reason"]].lazy.compactMap { value in
                if case .text(let text)? = value { text } else { nil }
            }.first
            self = .refused(
                words.map { String(decoding: $0.utf8.prefix(Self.detailLimit), as: UTF8.self) } ?? "no reason is told")
            return
        }
        guard case .boolean(let on)? = values["on"] else {
            self = .refused("the house's answer does not tell the plug's state")
            return
        }
        // A greater number was rounded when it was read.
        if case .number(let number)? = values["seq"], number < 9_007_199_254_740_992 {
            self = .done(on: on, event: SequenceNumber(exactly: number))
        } else {
            self = .done(on: on, event: nil)
        }
    }

    /// Whether the house has more to do than it takes: a moment later it may take it.
    static func isBusy(_ payload: [UInt8]) -> Bool {
        guard payload.count <= answerLimit, let values = try? JSONScalars(payload).values else { return false }
        return values["reason"] == .text(Refusal.Code.busy.rawValue)
    }
}
