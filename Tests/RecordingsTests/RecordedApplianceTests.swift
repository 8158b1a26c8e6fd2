import Checkout
import Foundation
import Metering
import Recordings
import Testing

/// Recordings of appliances that may be in a directory next to the repository. Without them the tests are skipped.
private let folder = Checkout.place("../shared/traces")

private let files =
    ((try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [])
    .filter { $0.lastPathComponent.hasSuffix(".csv.xz") }.sorted { $0.lastPathComponent < $1.lastPathComponent }

@Suite(.enabled(if: !files.isEmpty, "no recordings next to the repository"))
struct RecordedApplianceTests {
    private func recording(_ name: String) throws -> Recording {
        let file = try #require(files.first { $0.lastPathComponent.hasPrefix(name) })
        return try Recording.parse([UInt8](Data(contentsOf: file)))
    }

    @Test("The recorded power of a television rises above 40 W at the known times")
    func theTelevisionRisesWhenItIsKnownTo() throws {
        let points = try recording("TV-LCD").points
        let rises = zip(points, points.dropFirst()).filter { $0.deciwatts <= 400 && $1.deciwatts > 400 }
        #expect(rises.map(\.1.milliseconds).contains(try #require(TimeOfDay.milliseconds("11:14:07"))))
        #expect(rises.map(\.1.milliseconds).contains(try #require(TimeOfDay.milliseconds("19:19:32"))))
    }

    @Test("Chunks are lossless and need at most 0.42 bytes per sample")
    func chunksKeepThemExactlyInLittleMoreThanThreeBitsASample() throws {
        var bytes = 0
        var count = 0
        for file in files {
            let samples = try Recording.parse([UInt8](Data(contentsOf: file))).points.map {
                Sample(milliseconds: $0.milliseconds, deciwatts: $0.deciwatts)
            }
            var encoder = SampleChunkEncoder()
            var chunks = samples.compactMap { encoder.append($0) }
            if let last = encoder.seal() { chunks.append(last) }
            #expect(try chunks.flatMap { try $0.samples() } == samples, "\(file.lastPathComponent)")
            bytes += chunks.reduce(0) { $0 + $1.bytes.count }
            count += samples.count
        }
        #expect(Double(bytes) / Double(count) <= 0.42)
    }
}
