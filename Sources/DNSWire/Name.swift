/// A domain name (RFC 1035 §3.1): labels of arbitrary bytes. Comparison and hashing ignore ASCII case (RFC 6762 §16);
/// the stored bytes keep the case in which the name was received or written.
public struct Name: Sendable {
    /// The uncompressed wire form: length-prefixed labels, terminated by the zero byte of the root. At most
    /// ``lengthLimit`` bytes.
    public let bytes: [UInt8]

    /// The limit of a whole name in bytes, with length bytes and final zero (RFC 1035 §2.3.4).
    public static let lengthLimit = 255
    /// The limit of one label in bytes (RFC 1035 §2.3.4).
    public static let labelLimit = 63
    /// The limit of pointers in one name on the wire. A service instance name such as `Lamp._smartplug._tcp.local` has
    /// four labels and needs at most four pointers. The limit prevents a message of a few kilobytes from causing
    /// millions of steps.
    public static let pointerLimit = 16

    /// The root: the name without labels.
    public static let root = Name(trusted: [0])

    /// Creates a name without checks. Only the decoder and the members of this type may call this initializer, after
    /// they have checked the limits.
    init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a name from its labels, the leftmost first, without the root.
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

    /// Returns the name with one more label on its left, such as `Lamp` before `_smartplug._tcp.local`. Throws if the
    /// label is empty, or if the label or the name is too long.
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

/// The reasons why labels do not form a valid name.
public enum NameError: Error, Hashable, Sendable {
    case emptyLabel
    /// A label of `count` bytes, beyond the 63 allowed.
    case labelTooLong(count: Int)
    /// A name of `count` bytes in wire form, beyond the 255 allowed.
    case nameTooLong(count: Int)
    /// The escape at this byte offset is invalid: nothing follows the backslash, or a digit follows that is not the
    /// first of three decimal digits with a value of at most 255.
    case badEscape(offset: Int)
}

extension Name: Hashable {
    /// Compares the folded wire form. Folding length bytes is safe because they are at most 63, below every letter.
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
