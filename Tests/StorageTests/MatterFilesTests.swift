import LinuxSystem
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of the files of Matter: the records and the label.
@Suite struct MatterFilesTests {
    private let directories = Directories()
    private let notices = Notices()

    private func open() throws -> PlugStorage {
        var random = SeededRandom(seed: 3)
        return try PlugStorage(
            state: directories.state, runtime: directories.runtime, boot: firstBoot, files: FileStore(),
            random: &random, tell: { [notices] in notices.all.append($0) })
    }

    @Test("Records and label are in flash after their writes, and exposed records are unusable")
    func stored() throws {
        let records = (0..<30_000).map { UInt8(truncatingIfNeeded: $0) }
        do {
            let storage = try open()
            guard case .read(records: nil, label: nil) = storage.matterFiles() else {
                Issue.record("a new plug has files of Matter")
                return
            }
            #expect(storage.finish(storage.writing(matter: records).perform()))
            #expect(storage.keep(matterLabel: "20202021 3840"))
            // Draws the setup code, which the label requires.
            var random = SeededRandom(seed: 4)
            _ = storage.access(key: .plug, random: &random)
            storage.close()
        }
        do {
            let storage = try open()
            guard case .read(let found, let label) = storage.matterFiles() else {
                Issue.record("the files are unusable: \(notices.troubles)")
                return
            }
            #expect(found == records && label == "20202021 3840")
            #expect(try PlugLabel(state: directories.state).matter == label)
            storage.close()
        }
        try directories.setMode(0o644, of: "state/matter")
        let storage = try open()
        guard case .unusable = storage.matterFiles() else {
            Issue.record("records that others could read are used")
            return
        }
        #expect(notices.troubles.contains { $0.contains("state/matter") }, "\(notices.troubles)")
        storage.close()
    }

    @Test("A factory reset removes the records and keeps the label") func reset() throws {
        do {
            let storage = try open()
            #expect(storage.finish(storage.writing(matter: [1, 2, 3]).perform()))
            #expect(storage.keep(matterLabel: "20202021 3840") && storage.orderReset())
            storage.close()
        }
        let storage = try open()
        guard case .read(records: nil, label: "20202021 3840") = storage.matterFiles() else {
            Issue.record("the records survived, or the label did not")
            return
        }
        storage.close()
    }
}
