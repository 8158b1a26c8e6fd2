public import Automation
import Foundation
import LinuxClocks
import PlugModel
import ProtocolCore

/// What a program or a web server is told of the firing, as one JSON object with these keys.
public struct EffectEvent: Codable, Hashable, Sendable {
    /// 32 hexadecimal digits: the same also where it is told twice, because the controller was killed before it knew of the end.
    public var id: String
    public var rule: String
    /// What happened, in words.
    public var why: String
    /// The plug whose edge it was; left out where it was none's.
    public var plug: String?
    /// W of a power, Wh of an energy; left out where there is none.
    public var value: Double?
    /// When the rule fired: ISO 8601, UTC, milliseconds; as far as the clock of the wall tells it now.
    public var at: String?
    /// Of a notification, for a program that gets it; left out of all others.
    public var title: String?
    public var text: String?

    public init(_ request: EffectRequest) {
        let firing = request.firing
        id = request.id.hexadecimal
        rule = firing.rule
        why = firing.cause.description
        plug = firing.cause.plug
        value = firing.cause.value.flatMap { $0.isFinite ? $0 : nil }
        at = (WallTime.now - (BootClock.now - firing.time)).iso8601()
    }

    /// As a web server gets it: whatever comes again under the same `Idempotency-Key` has to be the same, and the clock may have been
    /// set meanwhile.
    var withoutTime: EffectEvent {
        var event = self
        event.at = nil
        return event
    }

    /// Keys in alphabetical order, on one line.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("it holds only text and a finite number")
        }
        return Array(data)
    }
}
