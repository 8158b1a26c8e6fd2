/// Decompresses `.gz` data (RFC 1952, with the compressed blocks of RFC 1951).
enum GZip {
    /// Returns true if the bytes begin with the magic number of gzip.
    static func recognises(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// Decompresses a file.
    ///
    /// - Parameter limit: the maximum number of decompressed bytes, so that a small file cannot fill the memory.
    static func decompress(_ bytes: [UInt8], limit: Int) throws(GZipError) -> [UInt8] {
        var inflater = Inflater(input: bytes, limit: limit)
        // A file may consist of several members.
        repeat { try inflater.member() } while inflater.place < bytes.count
        return inflater.output
    }
}

/// The reasons why bytes could not be decompressed.
enum GZipError: Error, Hashable, CustomStringConvertible {
    case truncated, damaged
    case tooLarge(limit: Int)

    var description: String {
        switch self {
        case .truncated: "gzip data that ends too early"
        case .damaged: "damaged gzip data"
        case .tooLarge(let limit): "gzip data of more than \(limit) bytes"
        }
    }
}

private struct Inflater {
    let input: [UInt8]
    let limit: Int
    private(set) var place = 0
    private(set) var output: [UInt8] = []
    private var bits: UInt32 = 0
    private var bitCount = 0

    init(input: [UInt8], limit: Int) { (self.input, self.limit) = (input, limit) }

    private mutating func byte() throws(GZipError) -> UInt8 {
        guard place < input.count else { throw .truncated }
        defer { place += 1 }
        return input[place]
    }

    private mutating func number(bytes: Int) throws(GZipError) -> UInt32 {
        var number: UInt32 = 0
        for index in 0..<bytes { number |= UInt32(try byte()) << UInt32(8 * index) }
        return number
    }

    /// Decompresses a member (RFC 1952 section 2.3).
    mutating func member() throws(GZipError) {
        guard try number(bytes: 2) == 0x8B1F, try byte() == 8 else { throw .damaged }
        let flags = try byte()
        _ = try (number(bytes: 4), number(bytes: 2))
        if flags & 4 != 0 { for _ in 0..<(try number(bytes: 2)) { _ = try byte() } }
        for flag: UInt8 in [8, 16] where flags & flag != 0 { while try byte() != 0 {} }
        if flags & 2 != 0 { _ = try number(bytes: 2) }
        let begin = output.count
        (bits, bitCount) = (0, 0)
        var isLast = false
        while !isLast {
            isLast = try read(1) == 1
            switch try read(2) {
            case 0: try stored()
            case 1: try compressed(Self.fixedLengths, Self.fixedDistances)
            case 2:
                let (lengths, distances) = try codes()
                try compressed(lengths, distances)
            case _: throw .damaged
            }
        }
        let sum = try number(bytes: 4)
        guard sum == Self.crc32(output[begin...]),
            try number(bytes: 4) == UInt32(truncatingIfNeeded: output.count - begin)
        else { throw .damaged }
    }

    private mutating func read(_ count: Int) throws(GZipError) -> Int {
        while bitCount < count {
            bits |= UInt32(try byte()) << UInt32(bitCount)
            bitCount += 8
        }
        defer {
            bits >>= UInt32(count)
            bitCount -= count
        }
        return Int(bits & (1 << UInt32(count) - 1))
    }

    private mutating func append(_ byte: UInt8) throws(GZipError) {
        guard output.count < limit else { throw .tooLarge(limit: limit) }
        output.append(byte)
    }

    /// Reads a stored block (RFC 1951 section 3.2.4).
    private mutating func stored() throws(GZipError) {
        (bits, bitCount) = (0, 0)
        let (length, complement) = (try number(bytes: 2), try number(bytes: 2))
        guard length == ~complement & 0xFFFF else { throw .damaged }
        for _ in 0..<length { try append(try byte()) }
    }

    /// Reads a compressed block (RFC 1951 section 3.2.5).
    private mutating func compressed(_ lengths: Huffman, _ distances: Huffman) throws(GZipError) {
        while true {
            let symbol = try decode(lengths)
            if symbol == 256 { return }
            guard symbol > 256 else {
                try append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengthBases.count else { throw .damaged }
            let length = Self.lengthBases[symbol - 257] + (try read(Self.lengthBits[symbol - 257]))
            let code = try decode(distances)
            guard code < Self.distanceBases.count else { throw .damaged }
            let distance = Self.distanceBases[code] + (try read(code < 4 ? 0 : code / 2 - 1))
            guard distance <= output.count else { throw .damaged }
            for _ in 0..<length { try append(output[output.count - distance]) }
        }
    }

    private mutating func decode(_ huffman: Huffman) throws(GZipError) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            code |= try read(1)
            let count = huffman.counts[length]
            if code - count < first { return huffman.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .damaged
    }

    /// Reads the code lengths of a block (RFC 1951 section 3.2.7).
    private mutating func codes() throws(GZipError) -> (Huffman, Huffman) {
        let (lengthCount, distanceCount, codeCount) = (try read(5) + 257, try read(5) + 1, try read(4) + 4)
        var sizes = [Int](repeating: 0, count: 19)
        for index in 0..<codeCount { sizes[Self.order[index]] = try read(3) }
        let code = try Huffman(sizes)
        var lengths: [Int] = []
        while lengths.count < lengthCount + distanceCount {
            let symbol = try decode(code)
            switch symbol {
            case ..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .damaged }
                lengths += [Int](repeating: last, count: 3 + (try read(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try read(3)))
            case _: lengths += [Int](repeating: 0, count: 11 + (try read(7)))
            }
        }
        guard lengths.count == lengthCount + distanceCount else { throw .damaged }
        return (try Huffman(Array(lengths[..<lengthCount])), try Huffman(Array(lengths[lengthCount...])))
    }

    private struct Huffman {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        /// Creates a code from the lengths of its symbols' codes.
        ///
        /// - Parameter lengths: the length of each symbol's code in bits; 0 for symbols without a code.
        init(_ lengths: [Int]) throws(GZipError) {
            for length in lengths where length > 0 { counts[length] += 1 }
            var left = 1
            for length in 1...15 {
                left = left << 1 - counts[length]
                guard left >= 0 else { throw .damaged }
            }
            for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
        }

        init(fixed lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
        }
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12_289, 16_385, 24_577,
    ]
    /// The fixed codes (RFC 1951 section 3.2.6).
    private static let fixedLengths = Huffman(
        fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Huffman(fixed: [Int](repeating: 5, count: 30))

    private static let crcTable: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }

    private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = crcTable
        return ~bytes.reduce(0xFFFF_FFFF) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }
}
