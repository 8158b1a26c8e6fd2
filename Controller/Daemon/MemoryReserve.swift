import DurableFiles

/// Room on the disk that was allocated in advance, for the memory of the rules while the disk is full.
///
/// Without it, a daemon that starts again on a full disk would read the memory from before the disk was full, and rules would act on each
/// later event a second time. Two files are written in turn, so a process that is killed during a write leaves the previous entry.
///
/// An entry is the checksum of the file that it is newer than, a number of 8 bytes that grows by one per entry, and the stored memory.
struct MemoryReserve: Sendable {
    /// Bytes of each of the two files. A house of 100 plugs and 100 rules takes some 20,000.
    static let size = 256 << 10

    static let sealLength = 16
    private let files: [ReservedFile]
    /// The number of the newest entry.
    private var number: UInt64 = 0

    /// Allocates the files `reserve.0` and `reserve.1`, unless an earlier process did. Nil if the disk has no room for them.
    init?(in directory: String) {
        let files = (0..<2).compactMap { try? ReservedFile("\(directory)/reserve.\($0)", size: Self.size) }
        guard files.count == 2 else { return nil }
        self.files = files
    }

    /// The newest memory that was stored here since `file` was written. Nil if `file` is newer than all entries.
    ///
    /// - Parameter file: the memory's own file, or its last ``sealLength`` bytes; nil if there is none.
    mutating func newest(after file: [UInt8]?) -> [UInt8]? {
        let seal = Self.seal(of: file)
        let entries = files.compactMap { try? $0.read() }.filter {
            $0.count > Self.sealLength + 8 && $0.starts(with: seal)
        }
        guard let newest = entries.max(by: { Self.number(of: $0) < Self.number(of: $1) }) else { return nil }
        number = Self.number(of: newest)
        return Array(newest[(Self.sealLength + 8)...])
    }

    /// Stores a memory in place of the older entry, durably.
    ///
    /// - Parameter file: the memory's own file, which could not be replaced, or its last ``sealLength`` bytes; nil if there is none.
    mutating func store(_ memory: [UInt8], after file: [UInt8]?) throws(FileError) {
        number &+= 1
        let digits = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        try files[Int(number % 2)].write(Self.seal(of: file) + digits + memory)
    }

    private static func number(of entry: [UInt8]) -> UInt64 {
        entry[sealLength..<sealLength + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A stored memory ends with its checksum.
    private static func seal(of file: [UInt8]?) -> [UInt8] {
        let seal = Array((file ?? []).suffix(sealLength))
        return [UInt8](repeating: 0, count: sealLength - seal.count) + seal
    }
}
