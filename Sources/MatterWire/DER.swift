/// Writes values in the Distinguished Encoding Rules (X.690) that certificates and signing requests need.
public enum DER {
    /// Object identifiers, in their encoding without tag and length.
    public enum Identifier {
        /// ecdsa-with-SHA256 (1.2.840.10045.4.3.2).
        public static let ecdsaWithSHA256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        /// id-ecPublicKey (1.2.840.10045.2.1).
        public static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        /// prime256v1 (1.2.840.10045.3.1.7).
        public static let prime256v1: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    }

    /// Returns a value with its tag and length.
    public static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 0x80 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }

    /// Returns a SEQUENCE of encoded values.
    public static func sequence(_ values: [UInt8]...) -> [UInt8] { sequence(of: values) }

    /// Returns a SEQUENCE of encoded values.
    public static func sequence(of values: [[UInt8]]) -> [UInt8] { value(0x30, Array(values.joined())) }

    /// Returns a SET with one encoded value.
    public static func set(_ member: [UInt8]) -> [UInt8] { value(0x31, member) }

    /// Returns an INTEGER that is not negative.
    public static func integer(_ number: UInt8) -> [UInt8] { value(0x02, number < 0x80 ? [number] : [0, number]) }

    /// Returns an OBJECT IDENTIFIER from its encoding without tag and length.
    public static func identifier(_ encoding: [UInt8]) -> [UInt8] { value(0x06, encoding) }

    /// Returns a BIT STRING of whole bytes.
    public static func bitString(_ bytes: [UInt8]) -> [UInt8] { value(0x03, [0] + bytes) }

    /// Returns an OCTET STRING.
    public static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(0x04, bytes) }

    /// Returns a UTF8String.
    public static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }

    /// Returns the SubjectPublicKeyInfo of a P-256 key.
    ///
    /// - Parameter key: the uncompressed point, 65 bytes.
    public static func publicKey(_ key: [UInt8]) -> [UInt8] {
        sequence(sequence(identifier(Identifier.ecPublicKey), identifier(Identifier.prime256v1)), bitString(key))
    }

    /// Returns a BIT STRING of named bits, without trailing zero bits. Bit 0 of the number is the first bit.
    static func namedBits(_ bits: UInt16) -> [UInt8] {
        let count = UInt16.bitWidth - bits.leadingZeroBitCount
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for bit in 0..<count where bits >> bit & 1 == 1 { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        return value(0x03, [UInt8(bytes.count * 8 - count)] + bytes)
    }

    /// The time that means that a certificate never expires (RFC 5280, 4.1.2.5).
    static let noExpiration = value(0x18, Array("99991231235959Z".utf8))

    /// Returns a time in seconds since 2000-01-01 00:00 UTC as a UTCTime, or as a GeneralizedTime from the year 2050 on
    /// (RFC 5280, 4.1.2.5).
    static func time(_ seconds: UInt32) -> [UInt8] {
        var days = Int(seconds) / 86_400
        var year = 2000
        while days >= daysInYear(year) {
            days -= daysInYear(year)
            year += 1
        }
        var month = 1
        while days >= daysIn(month, year) {
            days -= daysIn(month, year)
            month += 1
        }
        let time = Int(seconds) % 86_400
        let rest = [month, days + 1, time / 3600, time / 60 % 60, time % 60]
        let digits = (year < 2050 ? [year % 100] : [year / 100, year % 100]) + rest
        let text = digits.flatMap { [UInt8(ascii: "0") + UInt8($0 / 10), UInt8(ascii: "0") + UInt8($0 % 10)] }
        return value(year < 2050 ? 0x17 : 0x18, text + [UInt8(ascii: "Z")])
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func daysInYear(_ year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
