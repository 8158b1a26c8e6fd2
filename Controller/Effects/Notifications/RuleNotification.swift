import Automation

/// A notification that a rule sends to people, with the event that caused it.
public struct RuleNotification: Hashable, Sendable {
    /// The title, with filled placeholders.
    public var title: String
    /// The text, with filled placeholders.
    public var text: String
    /// The event that caused the notification.
    public var event: EffectEvent

    /// Creates a notification.
    public init(title: String, text: String, event: EffectEvent) {
        self.title = title
        self.text = text
        self.event = event
    }

    /// The longest headline, in scalars; it exceeds the limit of titles in rule files.
    private static let headlineLimit = 200

    /// The title on one line, without control characters, which could move a cursor or end a header field.
    public var headline: String {
        let scalars = title.unicodeScalars.prefix(Self.headlineLimit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: UnicodeScalar(UInt8(ascii: " "))
            case _: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns the notification with a line that reports how many earlier ones were dropped.
    func after(leavingOut count: Int) -> RuleNotification {
        guard count > 0 else { return self }
        var copy = self
        copy.text += "\n(\(count) earlier \(count == 1 ? "notification was" : "notifications were") dropped)"
        return copy
    }
}

/// A destination of the notifications of rules, in addition to clients that watch the daemon.
public protocol NotificationReceiver: Sendable {
    /// Makes one attempt. Returns when the receiver has accepted the notification. The call ends soon after its task is
    /// cancelled, and at the latest after the receiver's own time limit.
    func receive(_ notification: RuleNotification) async throws(NotificationFault)
}

/// The reason why a receiver did not get a notification.
public struct NotificationFault: Error, Hashable, Sendable {
    /// The reason, for people.
    public let words: String
    /// A hint about what the user can do; nil for no hint.
    public let hint: String?
    /// True if a later attempt may succeed: the receiver was not reached, or it failed.
    public let isRetryable: Bool
    /// The minimum time until the next attempt, as the receiver requests it; nil if it requests none.
    public let retryAfter: Duration?

    /// Creates a fault.
    public init(_ words: String, hint: String? = nil, isRetryable: Bool = false, retryAfter: Duration? = nil) {
        self.words = words
        self.hint = hint
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    /// Creates a fault with the words of a failed effect.
    init(_ outcome: EffectOutcome, hint: String? = nil, isRetryable: Bool = false) {
        switch outcome {
        case .done, .reported: preconditionFailure("a successful outcome is not a fault")
        case .failed(let words): self.init(words, hint: hint, isRetryable: isRetryable)
        }
    }

    /// The fault of a task that was cancelled.
    static let givenUp = NotificationFault(.givenUp)
}

/// A receiver that the user configured.
public struct NamedReceiver: Sendable {
    /// The kind of a receiver: its transport.
    public enum Kind: String, CaseIterable, Sendable {
        case desktop, ntfy, mail, command
    }

    /// The default limit of notifications per minute.
    public static let usualPerMinute = 10

    /// The name of the receiver's table in the settings.
    public var name: String
    /// Nil if the receiver replaces settings that cannot be read.
    public var kind: Kind?
    /// The maximum number of notifications that the receiver gets within any minute.
    public var perMinute: Int
    /// The receiver itself.
    public var receiver: any NotificationReceiver

    /// Creates a named receiver.
    public init(
        name: String, kind: Kind?, perMinute: Int = Self.usualPerMinute, receiver: any NotificationReceiver
    ) {
        self.name = name
        self.kind = kind
        self.perMinute = perMinute
        self.receiver = receiver
    }

    /// The paths of files with which another program could send messages as this controller.
    public var secretPaths: [String] { [(receiver as? NtfyReceiver)?.token?.path].compactMap(\.self) }
}
