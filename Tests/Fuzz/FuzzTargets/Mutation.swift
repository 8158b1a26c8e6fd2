public import ProtocolCore

/// Mutates inputs as data corruption and attackers do.
public enum Mutation {
    /// Returns the bytes with one to four random changes; `others` supply material for splices.
    public static func change(
        _ bytes: [UInt8], like others: [[UInt8]], using random: inout SeededRandom
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) { once(&bytes, others, &random) }
        return bytes
    }

    private static func once(_ bytes: inout [UInt8], _ others: [[UInt8]], _ random: inout SeededRandom) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &random)
        case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: .random(in: 0...bytes.count, using: &random))
        case 5: bytes.removeSubrange(place...)
        case 6:
            let other = others.randomElement(using: &random) ?? []
            bytes.replaceSubrange(place..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
        case _ where place < bytes.count:
            bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case _: bytes.append(.random(in: 0...255, using: &random))
        }
    }
}
