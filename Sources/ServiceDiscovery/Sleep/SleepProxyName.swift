/// The instance name of a sleep proxy, which begins with its metrics: `70-35-60-70.1 Living Room`. A host registers with
/// the proxy that has the lowest metrics.
public struct SleepProxyName: Hashable, Sendable, CustomStringConvertible {
    /// The properties of a proxy that decide which one a host uses. Each number has two digits, and lower is better. The
    /// first number that differs decides.
    public struct Metrics: Hashable, Sendable, Comparable {
        /// The purpose of the device: lower for a device that is made to be always on.
        public let type: UInt8
        /// The mobility of the device: lower for a device that stays at its place.
        public let portability: UInt8
        /// The power that the service needs in addition, on a logarithmic scale.
        public let marginalPower: UInt8
        /// The power of the whole device, on a logarithmic scale.
        public let totalPower: UInt8

        /// The numbers that a name can contain.
        public static let range: ClosedRange<UInt8> = 10...99

        /// Creates metrics. Numbers outside ``range`` are clamped.
        public init(type: UInt8, portability: UInt8, marginalPower: UInt8, totalPower: UInt8) {
            func clamped(_ number: UInt8) -> UInt8 { min(max(number, Self.range.lowerBound), Self.range.upperBound) }
            self.type = clamped(type)
            self.portability = clamped(portability)
            self.marginalPower = clamped(marginalPower)
            self.totalPower = clamped(totalPower)
        }

        private var numbers: [UInt8] { [type, portability, marginalPower, totalPower] }

        /// Orders the better metrics first.
        public static func < (left: Metrics, right: Metrics) -> Bool {
            left.numbers.lexicographicallyPrecedes(right.numbers)
        }

        var text: String { numbers.map { String($0) }.joined(separator: "-") }
    }

    /// The metrics.
    public let metrics: Metrics
    /// The number of optional features, such as keeping TCP connections open; nil in names of older proxies.
    public let features: UInt8?
    /// The name for users.
    public let name: String

    /// The service type of sleep proxies.
    public static let serviceType: ServiceType = "_sleep-proxy._udp"

    /// Creates a name. A name that is too long for one label is shortened.
    public init(metrics: Metrics, features: UInt8? = 0, name: String) {
        self.metrics = metrics
        self.features = features
        let prefix = Self.prefix(metrics, features)
        self.name = InstanceName.shortened(name, to: RFC6763.instanceNameLimit - prefix.utf8.count)
    }

    /// Parses an instance name. Returns nil if it does not begin with four numbers in ``Metrics/range``, or if the
    /// number of features is not valid.
    public init?(_ text: String) {
        guard let blank = text.firstIndex(of: " ") else { return nil }
        let parts = text[..<blank].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
        guard numbers.count == 4, let type = numbers[0], let portability = numbers[1], let marginalPower = numbers[2],
            let totalPower = numbers[3]
        else { return nil }
        metrics = Metrics(
            type: type, portability: portability, marginalPower: marginalPower, totalPower: totalPower)
        guard parts.count > 1 else {
            features = nil
            name = String(text[text.index(after: blank)...])
            return
        }
        guard parts[1].utf8.allSatisfy(Self.isDigit), let features = UInt8(parts[1]) else { return nil }
        self.features = features
        name = String(text[text.index(after: blank)...])
    }

    private static func number(_ text: Substring) -> UInt8? {
        guard text.utf8.count == 2, text.utf8.allSatisfy(isDigit), let number = UInt8(text) else { return nil }
        return Metrics.range.contains(number) ? number : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns true if hosts should prefer this proxy to the other one. Neither of two proxies with equal metrics is
    /// better, so that hosts do not move between them.
    public func isBetter(than other: SleepProxyName) -> Bool { metrics < other.metrics }

    /// The instance name.
    public var description: String { Self.prefix(metrics, features) + name }

    private static func prefix(_ metrics: Metrics, _ features: UInt8?) -> String {
        metrics.text + (features.map { ".\($0)" } ?? "") + " "
    }
}
