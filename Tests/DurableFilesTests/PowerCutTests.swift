import DurableFiles
import Testing

/// A small seeded generator: the same cut always has the same outcome.
struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}

@Suite("After a power cut at any step")
struct PowerCutTests {
    private let old = Array("the old state, which is longer than the new one".utf8)
    private let new = Array("the new state".utf8)

    /// Replaces a file and cuts the power; returns what the disk then holds and whether the call had returned.
    private func replaceAndCut(
        afterSteps steps: Int, seed: UInt64, ignoresSynchronize: Bool = false
    ) throws -> (content: [UInt8]?, returned: Bool) {
        var chance = Chance(state: seed)
        let disk = FailingDisk(ignoresSynchronize: ignoresSynchronize)
        let store = FileStore(calls: disk)
        try store.replace("state", with: old)
        disk.cutPower(afterSteps: steps)
        let returned = (try? store.replace("state", with: new)) != nil
        return (disk.content(of: "state", using: &chance), returned)
    }

    @Test("a replaced file is the old or the new one")
    func replacement() throws {
        var outcomes: Set<[UInt8]> = []
        for steps in 0..<30 {
            for seed in 0..<50 {
                let (content, returned) = try replaceAndCut(afterSteps: steps, seed: UInt64(seed))
                let found = try #require(content, "the file is gone after \(steps) steps, seed \(seed)")
                #expect(found == new || (found == old && !returned), "after \(steps) steps, seed \(seed)")
                outcomes.insert(found)
            }
        }
        #expect(outcomes == [old, new])
    }

    @Test("a disk that does not synchronize is caught")
    func lyingDisk() throws {
        let contents = try (0..<30).flatMap { steps in
            try (0..<50).map { try replaceAndCut(afterSteps: steps, seed: $0, ignoresSynchronize: true).content }
        }
        #expect(contents.contains { $0 != old && $0 != new })
    }

    @Test("an appended file starts with everything that had returned")
    func appending() throws {
        for steps in 0..<120 {
            for seed in 0..<20 {
                var chance = Chance(state: UInt64(seed))
                let disk = FailingDisk()
                disk.cutPower(afterSteps: steps)
                let file = try? AppendingFile("journal", store: FileStore(calls: disk))
                var promised: [UInt8] = []
                for record in 0..<8 {
                    let bytes = [UInt8](repeating: UInt8(record + 1), count: 10)
                    guard let file, (try? file.append(bytes)) != nil else { break }
                    promised += bytes
                }
                let content = disk.content(of: "journal", using: &chance) ?? []
                #expect(content.starts(with: promised), "after \(steps) steps, seed \(seed)")
            }
        }
    }
}
