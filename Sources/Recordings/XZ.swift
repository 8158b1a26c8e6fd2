internal import CLZMA

/// Decompresses `.xz` data with liblzma.
public enum XZ {
    /// Returns true if the bytes begin with the magic number of xz.
    public static func recognises(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])
    }

    /// The decoder's memory limit; `xz -9` needs 65 MiB.
    private static let memoryLimit: UInt64 = 96 << 20
    /// LZMA_CONCATENATED: consecutive streams form one file.
    private static let concatenated: UInt32 = 0x08

    /// Decompresses a file, or throws if it is damaged or exceeds a limit.
    ///
    /// - Parameter limit: the maximum number of decompressed bytes, so that a small file cannot fill the memory.
    public static func decompress(_ bytes: [UInt8], limit: Int) throws(XZError) -> [UInt8] {
        var stream = lzma_stream()
        guard lzma_stream_decoder(&stream, memoryLimit, concatenated) == LZMA_OK else { throw .outOfMemory }
        defer { lzma_end(&stream) }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        let result = bytes.withUnsafeBufferPointer { input in
            piece.withUnsafeMutableBufferPointer { piece in
                stream.next_in = input.baseAddress
                stream.avail_in = input.count
                var result = LZMA_OK
                while result == LZMA_OK, output.count <= limit {
                    stream.next_out = piece.baseAddress
                    stream.avail_out = piece.count
                    result = lzma_code(&stream, LZMA_FINISH)
                    output.append(contentsOf: piece[..<(piece.count - stream.avail_out)])
                }
                return result
            }
        }
        guard output.count <= limit else { throw .tooLarge(limit: limit) }
        switch result {
        case LZMA_STREAM_END: return output
        case LZMA_FORMAT_ERROR: throw .notXZ
        case LZMA_OPTIONS_ERROR: throw .unsupported
        case LZMA_MEMLIMIT_ERROR, LZMA_MEM_ERROR: throw .outOfMemory
        case LZMA_BUF_ERROR: throw .truncated
        default: throw .damaged
        }
    }
}

/// The reasons why bytes could not be decompressed.
public enum XZError: Error, Hashable, Sendable, CustomStringConvertible {
    case notXZ, truncated, damaged, unsupported, outOfMemory
    case tooLarge(limit: Int)

    public var description: String {
        switch self {
        case .notXZ: "this is not xz data"
        case .truncated: "the xz data ends too early; it may not have been copied completely"
        case .damaged: "the xz data is damaged"
        case .unsupported: "the xz data was made with options that this liblzma does not know"
        case .outOfMemory: "the xz data needs more memory than is allowed; compress it with a lower preset"
        case .tooLarge(let limit): "the xz data holds more than the \(limit) bytes that are allowed"
        }
    }
}
