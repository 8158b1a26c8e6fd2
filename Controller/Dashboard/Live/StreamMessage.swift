import NIOCore
import Presentation

/// Something that those who watch the house are told.
enum StreamMessage: Hashable, Sendable {
    case house(HouseRecord)
    case plug(PlugRecord)
    /// It is not paired and not there any more.
    case gone(plug: String)
    /// One a plug at most.
    case readings([ReadingRecord])
    case event(WatchRecord)
    case rule(RuleRecord)
    /// Those whose state changed.
    case rules([RuleStateRecord])
    /// All of them, in place of those before.
    case ruleSet(RuleSetRecord)
    /// What a rule tells a person.
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

    /// As it goes over the wire (HTML Living Standard, server-sent events). JSON on one line holds no end of line.
    func encoded(id: StreamPosition) -> ByteBuffer {
        ByteBuffer(string: "id: \(id)\nevent: \(kind)\ndata: \(json)\n\n")
    }
}

/// A place in the stream of one daemon's life: `EPOCH-NUMBER`.
struct StreamPosition: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen hexadecimal digits, others at each start.
    var epoch: String
    /// Of the last message that the reader has.
    var number: UInt64

    var description: String { "\(epoch)-\(number)" }
}

extension StreamPosition {
    /// Nil for what no daemon ever said.
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
