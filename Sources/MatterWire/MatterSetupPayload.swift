/// The content of the label by which a controller commissions the plug (Matter 5.1).
public struct MatterSetupPayload: Hashable, Sendable {
    /// The ways in which a controller finds the device (Matter 5.1.3.1).
    public struct Discovery: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The device opens a Wi-Fi access point.
        public static let accessPoint = Discovery(rawValue: 1)
        /// The device advertises by Bluetooth LE.
        public static let bluetooth = Discovery(rawValue: 2)
        /// The device is on the IP network already.
        public static let onNetwork = Discovery(rawValue: 4)
    }

    private let passcode: UInt32
    private let discriminator: UInt16
    private let vendor: UInt16
    private let product: UInt16
    private let discovery: Discovery

    /// Creates a payload for the standard commissioning flow.
    ///
    /// - Parameters:
    ///   - passcode: the passcode, for which ``isValid(passcode:)`` is true.
    ///   - discriminator: the discriminator, of which 12 bits are used.
    public init(
        passcode: UInt32, discriminator: UInt16, vendor: UInt16, product: UInt16, discovery: Discovery = .onNetwork
    ) {
        self.passcode = passcode & 0x7FF_FFFF
        self.discriminator = discriminator & 0xFFF
        (self.vendor, self.product, self.discovery) = (vendor, product, discovery)
    }

    /// Returns true unless the passcode is 0, has more than 8 digits, or is trivial (Matter 5.1.7.1).
    public static func isValid(passcode: UInt32) -> Bool {
        (1..<99_999_999).contains(passcode) && !passcode.isMultiple(of: 11_111_111)
            && passcode != 12_345_678 && passcode != 87_654_321
    }

    /// The text of the QR code (Matter 5.1.3): "MT:" and 88 bits in base 38.
    public var qrText: String {
        // From the lowest bit on: version (3 bits, zero), vendor (16), product (16), flow (2, zero), discovery (8),
        // discriminator (12), passcode (27), padding (4).
        let identity = UInt64(vendor) << 3 | UInt64(product) << 19
        let start = UInt64(discovery.rawValue) << 37 | UInt64(discriminator) << 45 | UInt64(passcode) << 57
        var bytes: [UInt8] = []
        bytes.append(littleEndian: identity | start)
        bytes.append(littleEndian: passcode >> 7)
        return "MT:" + Base38.encode(bytes.prefix(11))
    }

    /// The manual pairing code (Matter 5.1.4): ten digits and a check digit.
    public var manualCode: String {
        let short = UInt32(discriminator >> 8)
        let digits =
            Self.digits(short >> 2, 1) + Self.digits((short & 3) << 14 | passcode & 0x3FFF, 5)
            + Self.digits(passcode >> 14, 4)
        return (digits + [Verhoeff.checkDigit(of: digits)]).map { String($0) }.joined()
    }

    private static func digits(_ number: UInt32, _ count: Int) -> [Int] {
        var (digits, rest) = ([Int](), number)
        for _ in 0..<count {
            digits.insert(Int(rest % 10), at: 0)
            rest /= 10
        }
        return digits
    }
}

/// Matter's base 38 (Matter 5.1.3.1): three bytes are five characters, the lowest digit first.
enum Base38 {
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.")

    /// Encodes bytes.
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(3)
            var number = chunk.reversed().reduce(0) { $0 << 8 | Int($1) }
            for _ in 0..<[2, 4, 5][chunk.count - 1] {
                text.append(characters[number % 38])
                number /= 38
            }
            rest = rest.dropFirst(3)
        }
        return text
    }
}

/// Verhoeff's check digit (Matter 5.1.4.1.5), which detects every wrong digit and every swap of neighbours.
enum Verhoeff {
    /// Returns the check digit of decimal digits.
    static func checkDigit(of digits: [Int]) -> Int {
        var check = 0
        for (index, digit) in digits.reversed().enumerated() {
            check = product(check, permuted(digit, index + 1))
        }
        // The inverse in the dihedral group: rotations are negated, reflections are their own inverse.
        return check < 5 ? (5 - check) % 5 : check
    }

    /// The product in the dihedral group of order 10: 0 to 4 are rotations, 5 to 9 are reflections.
    private static func product(_ left: Int, _ right: Int) -> Int {
        switch (left < 5, right < 5) {
        case (true, true): (left + right) % 5
        case (true, false): 5 + (left + right) % 5
        case (false, true): 5 + (left - right) % 5
        case (false, false): (left - right + 5) % 5
        }
    }

    /// Applies the permutation (1 5 8 9 4 2 7 0)(3 6) so many times.
    private static func permuted(_ digit: Int, _ times: Int) -> Int {
        (0..<times % 8).reduce(digit) { digit, _ in [1, 5, 7, 6, 2, 8, 3, 0, 9, 4][digit % 10] }
    }
}
