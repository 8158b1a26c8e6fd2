public import Automation
import Foundation
import LinuxSystem
import PlugModel
import ProtocolCore

/// The event that a program or a web server receives when a rule fires: one JSON object with these keys.
public struct EffectEvent: Codable, Hashable, Sendable {
    /// The id of the effect, 32 hexadecimal digits. It stays the same if the effect is performed again because the
    /// controller was killed before it stored the outcome.
    public var id: String
    /// The name of the rule that fired; `plugctl budget` for a notification of the budget.
    public var rule: String
    /// A description of the cause, for people.
    public var why: String
    /// The name of the plug that caused the firing; absent if no plug did.
    public var plug: String?
    /// The measured value in W (power) or Wh (energy); absent if the cause has no value, or a value that is not finite.
    public var value: Double?
    /// The time at which the rule fired: ISO 8601, UTC, milliseconds, computed from the current wall clock; absent in a
    /// request to a web server.
    public var at: String?
    /// The title of the notification; only set for a program that receives notifications.
    public var title: String?
    /// The text of the notification; only set for a program that receives notifications.
    public var text: String?

    /// Creates the event of a request, without title and text.
    public init(_ request: EffectRequest) {
        let firing = request.firing
        id = request.id.hexadecimal
        rule = firing.rule
        why = firing.cause.description
        plug = firing.cause.plug
        value = firing.cause.value.flatMap { $0.isFinite ? $0 : nil }
        at = (WallTime.now - (BootClock.now - firing.time)).iso8601()
    }

    /// The event without its time, as it is sent to a web server. Requests with the same `Idempotency-Key` must have
    /// equal bodies, and the wall clock may have been set between them.
    var withoutTime: EffectEvent {
        var event = self
        event.at = nil
        return event
    }

    /// The event as one line of JSON, with keys in alphabetical order.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("an event has only texts and a finite number")
        }
        return Array(data)
    }
}
