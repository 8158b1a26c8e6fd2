import Automation

/// A rule's words for a person, with what happened.
public struct RuleNotification: Hashable, Sendable {
    public var title: String
    public var text: String
    public var event: EffectEvent

    public init(title: String, text: String, event: EffectEvent) {
        self.title = title
        self.text = text
        self.event = event
    }

    /// Scalars of a title that are shown: more than a rule file lets it have.
    private static let headlineLimit = 200

    /// The title on one line, without what would move a cursor or end a field of a head.
    var headline: String {
        let scalars = title.unicodeScalars.prefix(Self.headlineLimit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: UnicodeScalar(UInt8(ascii: " "))
            case _: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// With what could not be told before.
    func after(leavingOut count: Int) -> RuleNotification {
        guard count > 0 else { return self }
        var copy = self
        copy.text += "\n(\(count) \(count == 1 ? "notification" : "notifications") before this one left out)"
        return copy
    }
}

/// Somewhere that a rule's words for a person go to, beside those who watch the daemon itself.
public protocol NotificationReceiver: Sendable {
    /// One attempt: returns when it has them. It ends soon after its task was cancelled, and after some time of its own in any case.
    func receive(_ notification: RuleNotification) async throws(NotificationFault)
}

/// Why somebody did not get a notification.
public struct NotificationFault: Error, Hashable, Sendable {
    public let words: String
    /// What to try next.
    public let hint: String?
    /// Somebody who was not reached, or who failed, may be well in a moment.
    public let isWorthAnotherTry: Bool

    public init(_ words: String, hint: String? = nil, isWorthAnotherTry: Bool = false) {
        self.words = words
        self.hint = hint
        self.isWorthAnotherTry = isWorthAnotherTry
    }

    /// Of an effect that is given up with the same words.
    init(_ outcome: EffectOutcome, hint: String? = nil, isWorthAnotherTry: Bool = false) {
        switch outcome {
        case .done: preconditionFailure("what is done is no fault")
        case .failed(let words): self.init(words, hint: hint, isWorthAnotherTry: isWorthAnotherTry)
        }
    }

    /// Of a task that was cancelled.
    static let givenUp = NotificationFault(.givenUp)
}

/// A receiver that somebody set up.
public struct NamedReceiver: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case desktop, ntfy, mail, command
    }

    public static let usualPerMinute = 10

    /// As its settings call it.
    public var name: String
    /// Nil of one that stands for settings that cannot be read.
    public var kind: Kind?
    /// Notifications that it gets within any minute.
    public var perMinute: Int
    public var receiver: any NotificationReceiver

    public init(
        name: String, kind: Kind?, perMinute: Int = Self.usualPerMinute, receiver: any NotificationReceiver
    ) {
        self.name = name
        self.kind = kind
        self.perMinute = perMinute
        self.receiver = receiver
    }

    /// Files with which another program could send messages as this controller.
    public var secretPaths: [String] { [(receiver as? NtfyReceiver)?.token?.path].compactMap(\.self) }
}
