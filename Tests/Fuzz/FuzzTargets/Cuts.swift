import ProtocolCore

/// A stream in the pieces in which a network may hand it over: at once, byte by byte, and cut where the bytes themselves say.
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

/// The number of frames in what a machine sent; half a frame, or one outside the limits, is our own fault.
func countFrames(_ bytes: [UInt8]) throws(FuzzFailure) -> Int {
    var rest = bytes[...]
    var count = 0
    while !rest.isEmpty {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        try require(
            (1...65_536).contains(length) && rest.count >= 4 + length, "\(rest.count) bytes were sent for \(length)")
        rest = rest.dropFirst(4 + length)
        count += 1
    }
    return count
}
