import ProtocolCore

/// Splits a stream as a network may deliver it: in one piece, byte by byte, and in pieces of random sizes seeded by the
/// bytes.
func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
    var random = SeededRandom(seed: bytes.reduce(0) { $0 &* 31 &+ UInt64($1) })
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...40, using: &random))
        rest = rest.dropFirst(piece.count)
        pieces.append(Array(piece))
    }
    return [[bytes], bytes.map { [$0] }, pieces]
}

/// Counts the frames in a machine's output.
///
/// - Throws: ``FuzzFailure`` for an incomplete frame or one outside the limits.
func countFrames(_ bytes: [UInt8]) throws(FuzzFailure) -> Int {
    var rest = bytes[...]
    var count = 0
    while !rest.isEmpty {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        try require(
            (1...65_536).contains(length) && rest.count >= 4 + length,
            "a frame has the length \(length), and \(rest.count) bytes remain, including the 4 bytes of the length")
        rest = rest.dropFirst(4 + length)
        count += 1
    }
    return count
}
