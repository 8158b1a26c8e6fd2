import JSONText
public import PlugModel

/// An order to switch a plug of a house.
public struct FleetOrder: Hashable, Sendable {
    /// The name of the house.
    public var house: String
    /// The plug's id.
    public var plug: PlugID
    /// The requested state of the relay.
    public var on: Bool

    /// Creates an order.
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

/// The result of an order.
public enum FleetOutcome: Hashable, Sendable {
    /// The plug performed the order, or its relay was already in the requested state.
    ///
    /// - event: the number of the event that records the change; nil if nothing changed.
    case done(on: Bool, event: SequenceNumber?)
    /// The order was rejected, with the reason for the user.
    case refused(String)
    /// No answer arrived. The order has expired and will not be performed later, but it may have been performed
    /// already.
    case unanswered
    /// The request was never sent.
    case unreachable(String)
}

extension FleetOutcome {
    /// The limit of an answer in bytes, far more than a valid one has.
    private static let answerLimit = 4096
    /// The limit of a displayed reason in bytes.
    private static let detailLimit = 300

    /// Parses the answer to a command (`Documentation/reference/mqtt.md`). An invalid answer becomes `refused`.
    init(answer payload: [UInt8]) {
        guard payload.count <= Self.answerLimit, let values = try? JSONScalars(payload).values,
            case .boolean(let isDone)? = values["done"]
        else {
            self = .refused("the house's answer is not valid")
            return
        }
        guard isDone else {
            let words = [values["detail"], values["reason"]].lazy.compactMap { value in
                if case .text(let text)? = value { text } else { nil }
            }.first
            self = .refused(
                words.map { String(decoding: $0.utf8.prefix(Self.detailLimit), as: UTF8.self) } ?? "no reason given")
            return
        }
        guard case .boolean(let on)? = values["on"] else {
            self = .refused("the house's answer does not contain the plug's state")
            return
        }
        // A number of 2^53 or more may have been rounded during parsing, so it is dropped.
        if case .number(let number)? = values["seq"], number < 9_007_199_254_740_992 {
            self = .done(on: on, event: SequenceNumber(exactly: number))
        } else {
            self = .done(on: on, event: nil)
        }
    }

    /// Returns true if the house was too busy, so that a retry after a moment may succeed.
    static func isBusy(_ payload: [UInt8]) -> Bool {
        guard payload.count <= answerLimit, let values = try? JSONScalars(payload).values else { return false }
        return values["reason"] == .text(Refusal.Code.busy.rawValue)
    }
}
