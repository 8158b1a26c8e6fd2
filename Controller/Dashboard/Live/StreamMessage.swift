import NIOCore
import Presentation

/// A message of the event stream.
enum StreamMessage: Hashable, Sendable {
    case house(HouseRecord)
    case plug(PlugRecord)
    /// No plug has this name any longer: the plug was renamed, or it is not paired and no longer announced.
    case gone(plug: String)
    /// New readings, at most one per plug.
    case readings([ReadingRecord])
    case event(WatchRecord)
    case rule(RuleRecord)
    /// The rules whose state changed.
    case rules([RuleStateRecord])
    /// All rules; replaces the previous set.
    case ruleSet(RuleSetRecord)
    /// A notification of a rule or of the budget for the user.
    case notification(NotificationRecord)

    var kind: String {
        switch self {
        case .house: "house"
        case .plug: "plug"
        case .gone: "gone"
        case .readings: "readings"
        case .event: "event"
        case .rule: "rule"
        case .rules: "rules"
        case .ruleSet: "ruleSet"
        case .notification: "notification"
        }
    }

    private var json: String {
        switch self {
        case .house(let record): jsonLine(record)
        case .plug(let record): jsonLine(record)
        case .gone(let plug): jsonLine(["plug": plug])
        case .readings(let records): jsonLine(records)
        case .event(let record): jsonLine(record)
        case .rule(let record): jsonLine(record)
        case .rules(let records): jsonLine(records)
        case .ruleSet(let record): jsonLine(record)
        case .notification(let record): jsonLine(record)
        }
    }

    /// Encodes the message as a server-sent event (HTML Living Standard). The JSON is on one line, because a line break
    /// would end the field `data`.
    func encoded(id: StreamPosition) -> ByteBuffer {
        ByteBuffer(string: "id: \(id)\nevent: \(kind)\ndata: \(json)\n\n")
    }
}

/// A position in the stream of one daemon process: `EPOCH-NUMBER`.
struct StreamPosition: Hashable, Sendable, CustomStringConvertible {
    /// The id of the process: sixteen lowercase hexadecimal digits, drawn at random at each start.
    var epoch: String
    /// The number of the last message that the reader has.
    var number: UInt64

    var description: String { "\(epoch)-\(number)" }
}

extension StreamPosition {
    /// Parses a position; nil if the text does not have this form or the number exceeds 64 bits.
    init?(_ text: String) {
        let halves = text.split(separator: "-", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].utf8.count == 16, halves[0].utf8.allSatisfy(Self.isDigit),
            (1...20).contains(halves[1].utf8.count), halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(halves[1])
        else { return nil }
        self.init(epoch: String(halves[0]), number: number)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    static func newEpoch() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
