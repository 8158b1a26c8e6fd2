import LinuxSystem

/// Space that is allocated in advance and holds the state of the rules while the disk is full.
///
/// Without it, a daemon that restarts on a full disk would read the state from before the disk was full, and the rules
/// would handle later events again. The two files are written alternately, so a crash during a write leaves the
/// previous entry.
///
/// An entry has three parts: the checksum of the regular file that it supersedes, a counter of 8 bytes that grows by
/// one per entry, and the stored state.
struct MemoryReserve: Sendable {
    /// The size of each file in bytes. A larger state cannot be stored while the disk is full.
    static let size = 256 << 10

    /// The length of the checksum at the end of a stored state, in bytes.
    static let sealLength = 16
    private let files: [ReservedFile]
    /// The counter in the newest entry.
    private var number: UInt64 = 0

    /// Allocates the files `reserve.0` and `reserve.1`, unless an earlier process did. Nil if a file cannot be
    /// opened or allocated, for example because the disk is full.
    init?(in directory: String) {
        let files = (0..<2).compactMap { try? ReservedFile("\(directory)/reserve.\($0)", size: Self.size) }
        guard files.count == 2 else { return nil }
        self.files = files
    }

    /// Returns the states that were stored here since the regular file was written, the newest first. The newest is
    /// damaged if a crash interrupted its write.
    ///
    /// - Parameter file: the regular file, or its last ``sealLength`` bytes; nil if the file does not exist.
    mutating func memories(after file: [UInt8]?) -> [[UInt8]] {
        let seal = Self.seal(of: file)
        let entries = files.compactMap { try? $0.read() }.filter {
            $0.count > Self.sealLength + 8 && $0.starts(with: seal)
        }
        let sorted = entries.sorted { Self.number(of: $0) > Self.number(of: $1) }
        number = sorted.first.map(Self.number(of:)) ?? 0
        return sorted.map { Array($0[(Self.sealLength + 8)...]) }
    }

    /// Replaces the older entry, and returns after the new entry is durable. Throws `FileError` if the write fails.
    ///
    /// - Parameter file: the regular file, which could not be replaced, or its last ``sealLength`` bytes; nil if the
    ///   file does not exist.
    mutating func store(_ memory: [UInt8], after file: [UInt8]?) throws(FileError) {
        number &+= 1
        let digits = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        try files[Int(number % 2)].write(Self.seal(of: file) + digits + memory)
    }

    private static func number(of entry: [UInt8]) -> UInt64 {
        entry[sealLength..<sealLength + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the checksum at the end of a stored state; zeros if the file does not exist.
    private static func seal(of file: [UInt8]?) -> [UInt8] {
        let seal = Array((file ?? []).suffix(sealLength))
        return [UInt8](repeating: 0, count: sealLength - seal.count) + seal
    }
}
