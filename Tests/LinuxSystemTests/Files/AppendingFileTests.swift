import LinuxSystem
import TestSupport
import Testing

@Suite("Appending to files")
struct AppendingFileTests {
    private let directory = TestFolder()
    private var path: String { directory.path + "/journal" }

    private func content() throws -> [UInt8] { try FileStore().read(path, limit: 1000) }

    @Test("Appended bytes follow each other, also after the file is opened again")
    func appends() throws {
        do {
            let file = try AppendingFile(path)
            try file.append([1, 2])
            try file.append([3])
            #expect(file.length == 3)
        }
        let file = try AppendingFile(path)
        #expect(file.length == 3)
        try file.append([4])
        #expect(try content() == [1, 2, 3, 4])
        #expect(directory.mode(of: "journal") == 0o600)
    }

    @Test("A file can be truncated, and later appends follow its new end")
    func truncation() throws {
        let file = try AppendingFile(path)
        try file.append([1, 2, 3, 4])
        try file.truncate(to: 2)
        try file.append([5])
        #expect(try content() == [1, 2, 5])
    }

    @Test(
        "An append that does not fit on the disk leaves none of its bytes in the file, whichever byte fails",
        arguments: 0..<10)
    func fullDisk(room: Int) throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        disk.change { $0.longestTransfer = 3 }
        let file = try AppendingFile("journal", store: store)
        try file.append([1, 2, 3, 4])
        disk.change { $0.room = room }
        #expect(throws: FileError(.write, "journal", .system(.noSpace))) {
            try file.append([UInt8](repeating: 9, count: 10))
        }
        #expect(file.length == 4)
        #expect(try store.read("journal", limit: 100) == [1, 2, 3, 4])
        disk.change { $0.room = 100 }
        try file.append([5])
        #expect(try store.read("journal", limit: 100) == [1, 2, 3, 4, 5])
    }

    @Test("The bytes of an append that cannot be synchronized are removed")
    func failingSynchronize() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        let file = try AppendingFile("journal", store: store)
        disk.change { $0.synchronizeError = .inputOutput }
        #expect(throws: FileError(.synchronize, "journal", .system(.inputOutput))) { try file.append([1]) }
        #expect(file.length == 0)
        #expect(try store.read("journal", limit: 100) == [])
    }

    @Test("If the bytes of a failed append cannot be removed, further appends are refused")
    func damage() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        let file = try AppendingFile("journal", store: store)
        disk.change { ($0.room, $0.truncateError) = (2, .inputOutput) }
        #expect(throws: FileError(.write, "journal", .system(.noSpace))) { try file.append([1, 2, 3]) }
        disk.change { $0.room = 100 }
        #expect(throws: FileError(.write, "journal", .damaged)) { try file.append([4]) }
        #expect(try store.read("journal", limit: 100) == [1, 2])
    }
}
