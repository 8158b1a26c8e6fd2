import DNSWire

/// A field of a message's header.
enum HeaderField: Int {
    case id = 0
    case additionalCount = 10

    func read(_ message: [UInt8]) -> UInt16? {
        guard message.count >= 12 else { return nil }
        return UInt16(message[rawValue]) << 8 | UInt16(message[rawValue + 1])
    }

    func write(_ value: UInt16, into message: [UInt8]) -> [UInt8] {
        var message = message
        message.replaceSubrange(rawValue..<(rawValue + 2), with: bigEndian(value))
        return message
    }
}
