import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Locks of directories")
struct DirectoryLockTests {
    private let directory = TestFolder()

    @Test("A second owner is refused, and the error names the first one")
    func second() throws {
        let lock = try DirectoryLock(directory.path)
        let error = #expect(throws: FileError.self) { _ = try DirectoryLock(directory.path) }
        #expect(error?.reason == .held(by: getpid()))
        #expect(error?.description == "\(directory.path) is in use by process \(getpid())")
        #expect(error?.hint == "stop process \(getpid()), or choose another directory")
        withExtendedLifetime(lock) {}
    }

    @Test("The lock is free after its owner is gone")
    func release() throws {
        do { _ = try DirectoryLock(directory.path) }
        let lock = try DirectoryLock(directory.path)
        #expect(try FileStore().read(directory.path + "/lock", limit: 100) == Array("\(getpid())\n".utf8))
        withExtendedLifetime(lock) {}
    }

    @Test("The process id of an earlier owner is replaced completely")
    func staleNumber() throws {
        try FileStore().replace(directory.path + "/lock", with: Array("4294967296123456\n".utf8))
        let lock = try DirectoryLock(directory.path)
        #expect(try FileStore().read(directory.path + "/lock", limit: 100) == Array("\(getpid())\n".utf8))
        withExtendedLifetime(lock) {}
    }

    @Test("The error names no process if the holder has not written its id yet")
    func unknownHolder() throws {
        let descriptor = try LinuxFileCalls().open(directory.path, .directory)
        try LinuxFileCalls().lock(descriptor)
        defer { LinuxFileCalls().close(descriptor) }
        #expect(throws: FileError(.lock, directory.path, .held(by: nil))) { _ = try DirectoryLock(directory.path) }
    }

    @Test("A missing directory is an error")
    func missing() {
        let path = directory.path + "/no"
        #expect(throws: FileError(.open, path, .system(.notFound))) { _ = try DirectoryLock(path) }
    }
}
