import LinuxSystem
import TestSupport
import Testing

@Suite("Power cuts and kills at every step")
struct PowerCutTests {
    private let old = Array("the old state, which is longer than the new one".utf8)
    private let new = Array("the new state".utf8)

    /// Replaces a file on a disk that breaks down. Returns the content afterwards, or nil if the file is missing, and
    /// true if the replacement had succeeded.
    private func replaceAndBreak(
        _ breakdown: SimulatedDisk.Breakdown, afterSteps steps: Int, seed: UInt64, ignoresSynchronize: Bool = false
    ) throws -> (content: [UInt8]?, returned: Bool) {
        let disk = SimulatedDisk(seed: seed)
        let store = FileStore(calls: disk)
        disk.change { $0.ignoresSynchronize = ignoresSynchronize }
        try store.replace("state", with: old)
        disk.breakDown(breakdown, afterSteps: steps)
        let returned = (try? store.replace("state", with: new)) != nil
        switch breakdown {
        case .powerCut: disk.boot()
        case .kill: disk.startProcess()
        }
        return (try store.readIfPresent("state", limit: 100), returned)
    }

    @Test(
        "After a breakdown a replaced file has the old or the new content",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func replacement(breakdown: SimulatedDisk.Breakdown) throws {
        var outcomes: Set<[UInt8]> = []
        for steps in 0..<30 {
            for seed in 0..<(breakdown == .kill ? 1 : 50) {
                let (content, returned) = try replaceAndBreak(breakdown, afterSteps: steps, seed: UInt64(seed))
                let found = try #require(content, "the file is gone after \(steps) steps, seed \(seed)")
                #expect(found == new || (found == old && !returned), "after \(steps) steps, seed \(seed)")
                outcomes.insert(found)
            }
        }
        #expect(outcomes == [old, new])
    }

    @Test("The test detects a disk that does not synchronize")
    func lyingDisk() throws {
        let contents = try (0..<30).flatMap { steps in
            try (0..<50).map {
                try replaceAndBreak(.powerCut, afterSteps: steps, seed: $0, ignoresSynchronize: true).content
            }
        }
        #expect(contents.contains { $0 != old && $0 != new })
    }

    @Test("After a power cut a file contains every append that had returned")
    func appending() throws {
        for steps in 0..<120 {
            for seed in 0..<20 {
                let disk = SimulatedDisk(seed: UInt64(seed))
                let store = FileStore(calls: disk)
                disk.breakDown(.powerCut, afterSteps: steps)
                let file = try? AppendingFile("journal", store: store)
                var promised: [UInt8] = []
                for record in 0..<8 {
                    let bytes = [UInt8](repeating: UInt8(record + 1), count: 10)
                    guard let file, (try? file.append(bytes)) != nil else { break }
                    promised += bytes
                }
                disk.boot()
                let content = try store.readIfPresent("journal", limit: 1000) ?? []
                #expect(content.starts(with: promised), "after \(steps) steps, seed \(seed)")
            }
        }
    }

    @Test("Files in memory survive a killed process but not a power cut")
    func memory() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        try store.makeDirectories("/run/plug")
        try store.replace("/run/plug/mirror", with: new)
        disk.startProcess()
        #expect(try store.read("/run/plug/mirror", limit: 100) == new)
        disk.boot()
        #expect(try store.readIfPresent("/run/plug/mirror", limit: 100) == nil)
        #expect(disk.files == [])
    }

    @Test("A killed process leaves no lock")
    func lock() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        try store.makeDirectories("/var")
        let first = try DirectoryLock("/var", store: store)
        #expect(throws: FileError.self) { _ = try DirectoryLock("/var", store: store) }
        disk.startProcess()
        let second = try DirectoryLock("/var", store: store)
        withExtendedLifetime((first, second)) {}
    }
}
