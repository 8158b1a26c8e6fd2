import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("File operations")
struct FileStoreTests {
    private let directory = TestFolder()
    private let store = FileStore()
    private var file: String { directory.path + "/state" }

    @Test("The bytes that were written are read back, for any length", arguments: [0, 1, 4095, 4096, 4097, 600_000])
    func roundTrip(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try store.replace(file, with: bytes)
        #expect(try store.read(file, limit: count) == bytes)
        #expect(directory.names == ["state"])
    }

    @Test("A file beyond the limit is refused")
    func limit() throws {
        try store.replace(file, with: [1, 2, 3])
        #expect(throws: FileError(.read, file, .tooLarge(limit: 2))) { try store.read(file, limit: 2) }
    }

    @Test("An empty file is created with its permissions, and an existing file is not changed")
    func makeIfAbsent() throws {
        try store.makeFileIfAbsent(file, mode: 0o600)
        var status = stat()
        stat(file, &status)
        #expect(status.st_mode & 0o777 == 0o600 && status.st_size == 0)
        try store.replace(file, with: [1, 2, 3], mode: 0o640)
        try store.makeFileIfAbsent(file, mode: 0o600)
        #expect(try store.read(file, limit: 3) == [1, 2, 3])
        stat(file, &status)
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(throws: FileError(.open, file + "/under", SystemError(ENOTDIR))) {
            try store.makeFileIfAbsent(file + "/under", mode: 0o600)
        }
    }

    @Test("An endless device is refused")
    func endless() {
        #expect(throws: FileError(.read, "/dev/zero", .notRegular(.device))) {
            try store.read("/dev/zero", limit: 100_000)
        }
    }

    @Test("A pipe is refused without waiting, for reading, appending and locking", .timeLimit(.minutes(1)))
    func pipe() throws {
        mkfifo(file, 0o600)
        let refusal = FileError(.read, file, .notRegular(.pipe))
        #expect(throws: refusal) { try store.read(file, limit: 10) }
        #expect(throws: refusal) { try store.readIfPresent(file, limit: 10) }
        #expect("\(refusal)" == "cannot read \(file): it is a pipe, not a regular file")
        #expect(throws: FileError(.open, file, SystemError(ENXIO))) {
            _ = try AppendingFile(file)
        }
        mkfifo(directory.path + "/lock", 0o600)
        // This call must not wait for the other end of the pipe; its result depends on the kernel.
        _ = try? store.checkWritable(directory.path)
    }

    @Test("A reserved file holds one value, and a partially written header means no value")
    func reserved() throws {
        let reserved = try ReservedFile(file, size: 1000)
        #expect(try reserved.read() == nil && directory.mode(of: "state") == 0o600)
        try reserved.write(Array(repeating: 7, count: 1000))
        try reserved.write([1, 2, 3])
        #expect(try ReservedFile(file, size: 1000).read() == [1, 2, 3])
        #expect(throws: FileError(.write, file, .tooLarge(limit: 1000))) {
            try reserved.write(Array(repeating: 7, count: 1001))
        }
        try reserved.clear()
        #expect(try reserved.read() == nil)
        var status = stat()
        stat(file, &status)
        #expect(status.st_size == 1016 && status.st_blocks > 0)
        for (header, isThere) in [(UInt8(3), false), (0, false)] {
            var bytes = try store.read(file, limit: 2000)
            bytes[0] = header
            try store.replace(file, with: bytes)
            #expect(try (ReservedFile(file, size: 1000).read() != nil) == isThere)
        }
    }

    @Test("Text that is not UTF-8 is refused with its line")
    func text() throws {
        try store.replace(file, with: Array("a\nü\n".utf8))
        #expect(try store.readText(file, limit: 10) == "a\nü\n")
        try store.replace(file, with: Array("a\nb\n".utf8) + [0xC3, 0x0A] + Array("c".utf8))
        let error = FileError(.read, file, .noText(line: 3))
        #expect(throws: error) { try store.readText(file, limit: 10) }
        #expect("\(error)" == "cannot read \(file): line 3 is not UTF-8")
    }

    @Test("A call whose answer has arrived does not count against the limit of threads")
    func answeredCallsDoNotCount() {
        let patience = FileSystemTimeout(.seconds(60), threads: 1)
        let answers = (0..<2000).map { number in patience.within(place: "/\(number)") { number } }
        #expect(answers == Array(0..<2000))
    }

    @Test("A file system that does not answer is an error, and works again once it answers")
    func silence() throws {
        try store.replaceSecret(file, with: [1])
        let calls = StuckCalls()
        let stuck = FileStore(calls: calls, patience: FileSystemTimeout(.milliseconds(20), threads: 3))
        // While a call for a directory is overdue, no further call for it is made.
        for _ in 0..<3 {
            #expect(throws: FileError(.read, file, .late)) { try stuck.read(file, limit: 10) }
        }
        #expect(calls.waiting == 1)
        for other in ["/a/x", "/b/x"] {
            #expect(throws: FileError(.read, other, .late)) { try stuck.read(other, limit: 10) }
        }
        // The limit of waiting calls is reached.
        #expect(calls.waiting == 3)
        #expect(throws: FileError(.read, "/c/x", .late)) { try stuck.readSecretIfPresent("/c/x", limit: 10) }
        #expect(calls.waiting == 3)
        calls.answer()
        while (try? stuck.read(file, limit: 10)) != [1] {}
    }

    @Test("A folder whose file system does not answer is an error with a hint; one that answers is accepted")
    func silentDirectory() throws {
        let calls = StuckCalls()
        let stuck = FileStore(calls: calls, patience: FileSystemTimeout(.milliseconds(20)))
        let error = #expect(throws: FileError.self) { try stuck.requireAnswer(of: directory.path) }
        #expect(error == FileError(.open, directory.path, .late))
        #expect(error?.hint == "check whether its file system responds: ls -l \(directory.path)")
        calls.answer()
        for path in [directory.path, file] { try store.requireAnswer(of: path) }
    }

    @Test("A file of unknown length is read to its end")
    func unknownLength() throws {
        #expect(try store.read("/proc/self/status", limit: 1 << 20).count > 100)
    }

    @Test("A missing file is nil, or an error that names it")
    func missing() throws {
        #expect(try store.readIfPresent(file, limit: 10) == nil)
        #expect(throws: FileError(.open, file, .system(.notFound))) { try store.read(file, limit: 10) }
        let error = FileError(.open, "/x", .system(.notFound))
        #expect(error.description == "cannot open /x: No such file or directory")
        #expect(error.hint == "check the spelling of the path")
    }

    @Test("A directory cannot be read as a file")
    func directoryAsFile() {
        #expect(throws: FileError(.read, directory.path, .system(SystemError(EISDIR)))) {
            try store.readIfPresent(directory.path, limit: 100_000)
        }
    }

    @Test("A replaced file is readable only by its owner, unless a mode is given")
    func modes() throws {
        try store.replace(file, with: [1])
        #expect(directory.mode(of: "state") == 0o600)
        try store.replace(file, with: [1], mode: 0o640)
        #expect(directory.mode(of: "state") == 0o640)
    }

    @Test("A file for all users is readable with any file mode creation mask")
    func forAll() throws {
        // The mask applies to the whole process. Files of other tests need none of the permissions that it removes.
        let mask = umask(0o026)
        defer { umask(mask) }
        try store.replaceForAll(file, with: [1])
        #expect(directory.mode(of: "state") == 0o644)
    }

    @Test("An unfinished replacement of an earlier run is removed")
    func leftover() throws {
        #expect(symlink("/nowhere/at/all", file + ".new") == 0)
        try store.replace(file, with: [7])
        #expect(try store.read(file, limit: 10) == [7])
        #expect(directory.names == ["state"])
    }

    @Test("Signals and partial transfers do not change the result")
    func shortTransfers() throws {
        let disk = SimulatedDisk()
        disk.change { ($0.longestTransfer, $0.interruptions) = (3, 2) }
        let store = FileStore(calls: disk)
        let bytes = Array("one sentence, some bytes at a time".utf8)
        try store.replace("state", with: bytes)
        #expect(try store.read("state", limit: 100) == bytes)
    }

    @Test("A full disk keeps the old file and leaves no other files", arguments: 0..<13)
    func fullDisk(room: Int) throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        try store.replace("state", with: [9])
        disk.change { ($0.longestTransfer, $0.room) = (4, room) }
        let error = #expect(throws: FileError.self) {
            try store.replace("state", with: [UInt8](repeating: 1, count: 13))
        }
        #expect(error?.reason == .system(.noSpace))
        #expect(error?.hint == "free some space on that file system")
        #expect(try store.read("state", limit: 10) == [9])
        #expect(disk.files == ["state"])
    }

    @Test("A failed synchronize or rename keeps the old file and leaves no other files")
    func failingSteps() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        try store.replace("state", with: [9])
        disk.change { $0.synchronizeError = .inputOutput }
        #expect(throws: FileError(.synchronize, "state.new", .system(.inputOutput))) {
            try store.replace("state", with: [1])
        }
        disk.change { ($0.synchronizeError, $0.renameError) = (nil, .readOnly) }
        #expect(throws: FileError(.rename, "state", .system(.readOnly))) { try store.replace("state", with: [1]) }
        #expect(try store.read("state", limit: 10) == [9])
        #expect(disk.files == ["state"])
    }

    @Test("A read-only disk keeps the old file")
    func readOnly() throws {
        let disk = SimulatedDisk()
        let store = FileStore(calls: disk)
        try store.replace("state", with: [9])
        disk.change { $0.isReadOnly = true }
        #expect(throws: FileError(.open, "state.new", .system(.readOnly))) { try store.replace("state", with: [1]) }
        #expect(try store.read("state", limit: 10) == [9])
    }

    @Test("Missing parent directories are created, and existing directories are accepted")
    func directories() throws {
        let deep = directory.path + "/a/b/c/"
        try store.makeDirectories(deep, mode: 0o750)
        try store.makeDirectories(deep)
        try store.replace(deep + "file", with: [1])
        #expect(directory.mode(of: "a/b/c") == 0o750)
        #expect(unlink(deep + "file") == 0 && rmdir(deep) == 0)
        #expect(rmdir(directory.path + "/a/b") == 0 && rmdir(directory.path + "/a") == 0)
    }

    @Test("A file in the place of a directory is an error")
    func fileInTheWay() throws {
        try store.replace(file, with: [1])
        #expect(throws: FileError(.makeDirectory, file, .system(.alreadyExists))) { try store.makeDirectories(file) }
        #expect(throws: FileError(.makeDirectory, file, .system(.alreadyExists))) {
            try store.makeDirectories(file + "/a")
        }
    }

    @Test("The parent directory of a path is its part before the last slash")
    func parents() {
        #expect(parentDirectory(of: "/var/lib/x") == "/var/lib")
        #expect(parentDirectory(of: "/x") == "/")
        #expect(parentDirectory(of: "x") == ".")
        #expect(parentDirectory(of: "a/x") == "a")
    }
}

/// The kernel's calls; opening a file and checking a directory block until ``answer()``.
private final class StuckCalls: FileCalls {
    private let kernel = LinuxFileCalls()
    private let state = Mutex((isStuck: true, waiting: 0))

    var waiting: Int { state.withLock(\.waiting) }

    func answer() { state.withLock { $0.isStuck = false } }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        state.withLock { $0.waiting += 1 }
        while state.withLock(\.isStuck) { usleep(1000) }
        return try kernel.open(path, purpose)
    }

    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try kernel.read(descriptor, into: buffer)
    }
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try kernel.write(descriptor, bytes)
    }
    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) { try kernel.setMode(descriptor, to: mode) }
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try kernel.truncate(descriptor, to: length)
    }
    func synchronize(_ descriptor: Int32) throws(SystemError) { try kernel.synchronize(descriptor) }
    func rename(_ path: String, to newPath: String) throws(SystemError) { try kernel.rename(path, to: newPath) }
    func link(_ path: String, to newPath: String) throws(SystemError) { try kernel.link(path, to: newPath) }
    func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) { try kernel.makeDirectory(path, mode: mode) }
    func isDirectory(_ path: String) -> Bool {
        while state.withLock(\.isStuck) { usleep(1000) }
        return kernel.isDirectory(path)
    }
    func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
}
