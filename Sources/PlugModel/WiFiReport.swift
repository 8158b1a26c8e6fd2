/// The name of a Wi-Fi network (SSID): 1 to 32 bytes, which are usually UTF-8.
public struct WiFiName: Hashable, Sendable, CustomStringConvertible {
    /// The bytes as the network announces them.
    public let bytes: [UInt8]

    /// Returns nil unless there are 1 to 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard (1...32).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Returns nil unless the text has 1 to 32 bytes in UTF-8.
    public init?(_ text: some StringProtocol) { self.init(bytes: text.utf8) }

    /// The name as text. Control characters and bytes that are not UTF-8 are replaced by U+FFFD.
    public var description: String {
        String(
            String.UnicodeScalarView(
                String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
                    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) ? "\u{FFFD}" : scalar
                }))
    }
}

/// The password of a Wi-Fi network: 8 to 63 printable ASCII characters, or a key of 64 hexadecimal digits
/// (IEEE 802.11-2020, annex J.4). Its descriptions do not contain it.
public struct WiFiPassword: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The characters.
    public let secret: String

    /// Returns nil unless the text is a valid password.
    public init?(_ text: some StringProtocol) {
        let isHexadecimal = text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
        let isPrintable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        guard isHexadecimal || (isPrintable && (8...63).contains(text.utf8.count)) else { return nil }
        secret = String(text)
    }

    /// True for a key of 64 hexadecimal digits, which only networks without WPA3 accept.
    public var isKey: Bool { secret.utf8.count == 64 }

    public var description: String { "a password" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A Wi-Fi network that the plug joins.
public struct WiFiNetwork: Hashable, Sendable {
    /// The name.
    public var name: WiFiName
    /// The password; nil for a network without one.
    public var password: WiFiPassword?

    /// Creates a network.
    public init(_ name: WiFiName, password: WiFiPassword?) { (self.name, self.password) = (name, password) }
}

/// The code of a country by ISO 3166-1, which decides the permitted channels: two capital letters.
public struct WiFiCountry: RawRepresentable, Hashable, Sendable {
    /// The letters.
    public let rawValue: String

    /// Returns nil unless there are two letters. Small letters are accepted.
    public init?(rawValue: String) {
        guard rawValue.utf8.count == 2, rawValue.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) }) else {
            return nil
        }
        self.rawValue = rawValue.uppercased()
    }
}

/// A request of an owner about the plug's Wi-Fi.
public enum WiFiRequest: Hashable, Sendable {
    /// Report the state without changing it.
    case ask
    /// Try this network. It is stored, with the highest priority, if the plug can join it; otherwise the plug returns to
    /// the networks that it knows.
    ///
    /// - Parameter country: nil keeps the previous one.
    case join(WiFiNetwork, country: WiFiCountry?)
    /// Forget a stored network.
    case remove(WiFiName)
    /// Open the plug's own network for its setup.
    case setUp
}

/// The state of the plug's Wi-Fi, as reported to an owner.
public struct WiFiReport: Hashable, Sendable {
    /// The current use of the radio.
    public enum Phase: Hashable, Sendable {
        /// The program that drives the radio does not answer.
        case off
        /// No stored network is within reach, or none is stored.
        case searching
        /// The plug has joined a network.
        case joined(Link)
        /// The plug tries a network before it stores it.
        case trying(WiFiName)
        /// The plug's own network is open for its setup.
        case setup
        /// A phase that this version does not know.
        case unknown
    }

    /// The connection to an access point.
    public struct Link: Hashable, Sendable {
        /// The network.
        public var name: WiFiName
        /// The hardware address of the access point, as text.
        public var accessPoint: String
        /// The strength of the signal in dBm, negative; nil if it is not known.
        public var signal: Int?
        /// The frequency in MHz; nil if it is not known.
        public var megahertz: Int?

        /// Creates a connection.
        public init(name: WiFiName, accessPoint: String, signal: Int? = nil, megahertz: Int? = nil) {
            (self.name, self.accessPoint) = (name, accessPoint)
            (self.signal, self.megahertz) = (signal, megahertz)
        }
    }

    /// A network that the plug could not join.
    public struct Failure: Hashable, Sendable {
        /// The network.
        public var name: WiFiName
        /// The reason.
        public var reason: Reason

        /// Creates a failure.
        public init(_ name: WiFiName, _ reason: Reason) { (self.name, self.reason) = (name, reason) }
    }

    /// The reason why a network could not be joined.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The network has a different password.
        case wrongPassword = "wrong-password"
        /// No access point with this name is within reach.
        case notFound = "not-found"
        /// The access point rejected the plug.
        case rejected
        /// The access point did not answer in time.
        case noAnswer = "no-answer"
        /// The plug's flash could not be written, so the network is not stored.
        case notStored = "not-stored"
    }

    /// The current use of the radio.
    public var phase: Phase
    /// The stored networks, in the order of their priority.
    public var networks: [WiFiName]
    /// The last network that an owner wanted the plug to join, if that failed.
    public var failure: Failure?
    /// The country; nil if none is stored.
    public var country: WiFiCountry?

    /// Creates a report.
    public init(
        phase: Phase, networks: [WiFiName] = [], failure: Failure? = nil, country: WiFiCountry? = nil
    ) {
        (self.phase, self.networks) = (phase, networks)
        (self.failure, self.country) = (failure, country)
    }
}
