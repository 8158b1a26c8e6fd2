/// A domain name (RFC 1035 §3.1): labels of arbitrary bytes, compared and hashed without regard to ASCII case (RFC 6762 §16),
/// but kept in the case in which they were written.
public struct Name: Sendable {
    /// The uncompressed wire form: length-prefixed labels, closed by the root's zero. At most ``lengthLimit`` bytes.
    public let bytes: [UInt8]

    /// RFC 1035 §2.3.4: the whole name, length bytes and final zero included.
    public static let lengthLimit = 255
    /// RFC 1035 §2.3.4: one label.
    public static let labelLimit = 63
    /// Pointers in one name on the wire; four are usual. Stops a message of a few kilobytes from taking millions of steps.
    public static let pointerLimit = 16

    public static let root = Name(trusted: [0])

    /// The caller has checked the limits: only the decoder and the initialisers here may say so.
    init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// A name of the given labels, the leftmost first, without the root.
    public init(labels: some Sequence<some Collection<UInt8>>) throws(NameError) {
        var bytes: [UInt8] = []
        for label in labels {
            guard !label.isEmpty else { throw .emptyLabel }
            guard label.count <= Self.labelLimit else { throw .labelTooLong(count: label.count) }
            bytes.append(UInt8(label.count))
            bytes.append(contentsOf: label)
        }
        bytes.append(0)
        guard bytes.count <= Self.lengthLimit else { throw .nameTooLong(count: bytes.count) }
        self.bytes = bytes
    }

    /// The labels, the leftmost first, without the root.
    public var labels: [ArraySlice<UInt8>] {
        var labels: [ArraySlice<UInt8>] = []
        var offset = 0
        while bytes[offset] != 0 {
            let end = offset + 1 + Int(bytes[offset])
            labels.append(bytes[(offset + 1)..<end])
            offset = end
        }
        return labels
    }

    /// The name without its leftmost label; nil for the root.
    public var parent: Name? {
        bytes[0] == 0 ? nil : Name(trusted: Array(bytes[(1 + Int(bytes[0]))...]))
    }

    /// This name below another label: `Lamp` put before `_smartplug._tcp.local`.
    public func prepending(label: some Collection<UInt8>) throws(NameError) -> Name {
        guard !label.isEmpty else { throw .emptyLabel }
        guard label.count <= Self.labelLimit else { throw .labelTooLong(count: label.count) }
        guard 1 + label.count + bytes.count <= Self.lengthLimit else {
            throw .nameTooLong(count: 1 + label.count + bytes.count)
        }
        return Name(trusted: [UInt8(label.count)] + label + bytes)
    }

    /// The leftmost label; empty for the root.
    public var firstLabel: ArraySlice<UInt8> { bytes[1..<max(1, 1 + Int(bytes[0]))] }
}

/// Why labels do not make a name.
public enum NameError: Error, Hashable, Sendable {
    case emptyLabel
    /// A label of `count` bytes, beyond the 63 allowed.
    case labelTooLong(count: Int)
    /// A name of `count` bytes in wire form, beyond the 255 allowed.
    case nameTooLong(count: Int)
    /// A backslash that is followed neither by a character nor by three decimal digits up to 255.
    case badEscape(offset: Int)
}

extension Name: Hashable {
    /// Length bytes are at most 63 and so never look like a letter: folding the whole wire form is safe.
    public static func == (left: Name, right: Name) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return left.bytes.withUnsafeBufferPointer { left in
            right.bytes.withUnsafeBufferPointer { right in
                for index in left.indices where left[index] != right[index] {
                    guard folded(left[index]) == folded(right[index]) else { return false }
                }
                return true
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
            for index in bytes.indices { buffer.initializeElement(at: index, to: folded(bytes[index])) }
            hasher.combine(bytes: UnsafeRawBufferPointer(buffer))
        }
    }
}

private func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
