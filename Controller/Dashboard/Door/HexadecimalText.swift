/// Converts bytes to lowercase hexadecimal digits.
enum HexadecimalText {
    static func of(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns random bytes of the system's cryptographic generator, in digits.
    static func random(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return of((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    static func isOne(_ text: some StringProtocol, digits: Int) -> Bool {
        text.utf8.count == digits
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
