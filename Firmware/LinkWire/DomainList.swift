import DNSWire

/// Domain names as DHCP options have them.
public enum DomainList {
    /// Stops an option from filling a file that others read; resolvers take six, or 32 at most.
    public static let limit = 32
    /// Pointers in one name. Each leads further back than the one before it, so that this ends no sound name.
    private static let pointerLimit = 16

    /// The names of option 119 (RFC 3397 §2): one after the other, compressed within the option's whole content. Nil when one is
    /// malformed: cut off, with a pointer that does not lead backwards, or no name for files that others read.
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

    /// Nil unless the text is a domain name of letters, digits, hyphens and underscores; a final dot is taken away.
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

    /// The labels of the name at an offset, and where the next name begins.
    private static func labels(of data: [UInt8], at start: Int) -> (labels: [ArraySlice<UInt8>], next: Int)? {
        var labels: [ArraySlice<UInt8>] = []
        var (cursor, next): (Int, Int?) = (start, nil)
        // The part of the name at hand begins here: a pointer must lead before it, so that no message makes the walk endless.
        var partStart = start
        var pointers = 0
        while cursor < data.count {
            let byte = data[cursor]
            switch byte >> 6 {
            case 0b00 where byte == 0: return (labels, next ?? cursor + 1)
            case 0b00:
                let end = cursor + 1 + Int(byte)
                // A name has at most 127 labels, whatever it weighs.
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
