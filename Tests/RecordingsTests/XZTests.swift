import Recordings
import Testing

@Suite struct XZTests {
    /// `0,10` and `1,2000`, each with a line feed, compressed by xz.
    static let compressed: [UInt8] = [
        0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x01, 0x69, 0x22, 0xDE, 0x36, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0x01, 0x00, 0x0B, 0x30, 0x2C, 0x31, 0x30, 0x0A, 0x31, 0x2C, 0x32, 0x30,
        0x30, 0x30, 0x0A, 0x00, 0xF6, 0x9A, 0xF2, 0x95, 0x00, 0x01, 0x20, 0x0C, 0xA2, 0xDD, 0xB4, 0xBC, 0x90, 0x42,
        0x99, 0x0D, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5A,
    ]

    private func error(_ bytes: [UInt8], limit: Int = 1000) -> XZError? {
        do {
            _ = try XZ.decompress(bytes, limit: limit)
            return nil
        } catch { return error }
    }

    @Test("A compressed recording is decompressed and parsed") func aCompressedRecordingIsReadAsItIs() throws {
        #expect(try XZ.decompress(Self.compressed, limit: 12) == Array("0,10\n1,2000\n".utf8))
        #expect(try Recording.parse(Self.compressed) == parse("0,10\n1,2000"))
    }

    @Test("A file of several streams is decompressed completely") func severalStreamsAreOneFile() throws {
        let twice = try XZ.decompress(Self.compressed + Self.compressed, limit: 100)
        #expect(twice == Array("0,10\n1,2000\n0,10\n1,2000\n".utf8))
    }

    @Test("Output beyond the limit is rejected") func moreThanTheLimitIsRefused() {
        #expect(error(Self.compressed, limit: 11) == .tooLarge(limit: 11))
    }

    @Test("Every prefix of a stream is rejected as truncated") func everyPrefixIsTruncated() {
        for length in 1..<Self.compressed.count {
            #expect(error(Array(Self.compressed[..<length])) == .truncated, "length \(length)")
        }
    }

    @Test("Damaged data, and data that is not xz, are rejected") func damageIsNoticed() {
        var bytes = Self.compressed
        bytes[30] ^= 1
        #expect(error(bytes) == .damaged)
        #expect(error(Array("0,10\n1,2000\n2,2000\n".utf8)) == .notXZ)
        #expect(throws: RecordingError.self) { try Recording.parse(bytes) }
    }
}
