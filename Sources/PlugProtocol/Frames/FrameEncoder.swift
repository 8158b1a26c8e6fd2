import PlugModel
internal import SwiftProtobuf

/// Encodes messages as frames and collects their bytes for sending.
struct FrameEncoder: Sendable {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ message: some Message) {
        let body: [UInt8]
        do {
            body = try message.serializedBytes()
        } catch {
            preconditionFailure("an outgoing message cannot be encoded: \(error)")
        }
        precondition(
            (1...PlugWire.maximumMessage).contains(body.count), "an outgoing message has \(body.count) bytes"
        )
        let length = UInt32(body.count)
        bytes.reserveCapacity(bytes.count + 4 + body.count)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        bytes.append(contentsOf: body)
    }

    mutating func append(frame: [UInt8]) {
        if bytes.isEmpty { bytes = frame } else { bytes.append(contentsOf: frame) }
    }

    /// Returns the collected bytes and removes them.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    static func frame(_ message: some Message) -> [UInt8] {
        var encoder = FrameEncoder()
        encoder.append(message)
        return encoder.bytes
    }
}
