import DNSWire

/// Encodes and decodes the domain names in DHCP options.
public enum DomainList {
    /// The limit of names, which bounds the size of a file for other programs; resolvers use six, or 32 at most.
    public static let limit = 32
    /// The limit of pointers in one name, which bounds the work per name. A name with more pointers is rejected as
    /// malformed.
    private static let pointerLimit = 16

    /// Decodes the names of option 119 (RFC 3397 §2), which are consecutive and compressed within the option's content.
    /// Returns nil if one is malformed: truncated, with a pointer that does not lead backwards, or with characters that
    /// are unsafe in files. Empty content results in nil as well.
    static func names(decoding data: [UInt8]) -> [String]? {
        var names: [String] = []
        var offset = 0
        while offset < data.count, names.count < limit {
            guard let (labels, next) = labels(of: data, at: offset), let name = try? Name(labels: labels),
                let text = self.name(presentation: name.description)
            else { return nil }
            names.append(text)
            offset = next
        }
        return names.isEmpty ? nil : names
    }

    /// Validates a domain name of letters, digits, hyphens and underscores, and removes a final dot. Returns nil if it
    /// is not valid.
    static func name(presentation text: String) -> String? {
        guard let name = try? Name(presentation: text), name != .root, name.labels.allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        let isPlain = name.labels.joined().allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            case _: false
            }
        }
        return isPlain ? name.description : nil
    }

    static func encode(_ names: [String]) -> [UInt8] {
        names.flatMap { (try? Name(presentation: $0))?.bytes ?? [] }
    }

    /// Returns the labels of the name at an offset, and the offset of the next name.
    private static func labels(of data: [UInt8], at start: Int) -> (labels: [ArraySlice<UInt8>], next: Int)? {
        var labels: [ArraySlice<UInt8>] = []
        var (cursor, next): (Int, Int?) = (start, nil)
        // The start of the current part. A pointer must lead before it, so that no message causes an endless loop.
        var partStart = start
        var pointers = 0
        while cursor < data.count {
            let byte = data[cursor]
            switch byte >> 6 {
            case 0b00 where byte == 0: return (labels, next ?? cursor + 1)
            case 0b00:
                let end = cursor + 1 + Int(byte)
                // A name has at most 127 labels.
                guard end <= data.count, labels.count < 127 else { return nil }
                labels.append(data[(cursor + 1)..<end])
                cursor = end
            case 0b11:
                guard cursor + 1 < data.count else { return nil }
                let target = Int(byte & 0x3F) << 8 | Int(data[cursor + 1])
                pointers += 1
                guard target < partStart, pointers <= pointerLimit else { return nil }
                next = next ?? cursor + 2
                (cursor, partStart) = (target, target)
            case _: return nil
            }
        }
        return nil
    }
}
