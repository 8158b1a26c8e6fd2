import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Tests of writing results to a file or a stream that the user named.
struct OutputFileTests {
    private let folder = TestFolder()
    private let bytes = Array("<svg/>".utf8)

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func kind(_ name: String) -> mode_t {
        var status = stat()
        return lstat(path(name), &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    @Test("A missing file is created, and a regular file is replaced")
    func regularFile() throws {
        for text in ["first", "second"] {
            try FileStore().writeOutput(path("chart"), Array(text.utf8))
            #expect(try FileStore().read(path("chart"), limit: 100) == Array(text.utf8))
        }
    }

    @Test("A link is followed and remains a link, whether its target exists or not", arguments: [true, false])
    func link(_ exists: Bool) throws {
        if exists { try FileStore().writeOutput(path("target"), [1]) }
        #expect(symlink("target", path("middle")) == 0 && symlink(path("middle"), path("link")) == 0)
        try FileStore().writeOutput(path("link"), bytes)
        #expect(kind("link") == S_IFLNK && kind("middle") == S_IFLNK && kind("target") == S_IFREG)
        #expect(try FileStore().read(path("target"), limit: 100) == bytes)
    }

    @Test("A character device receives the bytes and remains a device, also through a link")
    func device() throws {
        #expect(symlink("/dev/null", path("link")) == 0)
        for path in ["/dev/null", path("link")] { try FileStore().writeOutput(path, bytes) }
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        #expect(kind("link") == S_IFLNK)
        let error = #expect(throws: FileError.self) { try FileStore().writeOutput("/dev/full", bytes) }
        #expect(error?.reason == .system(.noSpace))
    }

    @Test("A program that reads from a pipe receives the bytes, and the pipe remains a pipe")
    func pipeWithReader() throws {
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        let reader = open(path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try FileStore().writeOutput(path("pipe"), bytes)
        var received = [UInt8](repeating: 0, count: 100)
        let count = read(reader, &received, received.count)
        #expect(Array(received.prefix(max(0, count))) == bytes)
        #expect(kind("pipe") == S_IFIFO)
    }

    @Test("A pipe that no program reads is refused with a hint, and remains a pipe")
    func pipeWithoutReader() throws {
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        let store = FileStore(patience: FileSystemTimeout(.milliseconds(20)))
        let error = #expect(throws: FileError.self) { try store.writeOutput(path("pipe"), bytes) }
        #expect(error?.description == "cannot open \(path("pipe")): no program reads from this pipe")
        #expect(error?.hint == "start the program that reads from it first")
        #expect(kind("pipe") == S_IFIFO)
        // Ends the thread that still waits for a reader.
        close(open(path("pipe"), O_RDONLY | O_NONBLOCK))
    }

    @Test("A descriptor of this process receives the bytes after the existing content of its file")
    func ownDescriptor() throws {
        let file = open(path("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(write(file, "before ", 7) == 7)
        for folder in ["/dev/fd/", "/proc/self/fd/"] { try FileStore().writeOutput("\(folder)\(file)", bytes) }
        #expect(try FileStore().readText(path("file"), limit: 100) == "before <svg/><svg/>")
    }

    @Test("A folder and a socket are refused and remain unchanged")
    func refusedKinds() throws {
        let folder = #expect(throws: FileError.self) { try FileStore().writeOutput(path("."), bytes) }
        #expect(folder?.reason == .system(SystemError(EISDIR)))
        #expect(mknod(path("socket"), S_IFSOCK | 0o600, 0) == 0)
        let socket = #expect(throws: FileError.self) { try FileStore().writeOutput(path("socket"), bytes) }
        #expect(socket?.reason == .notRegular(.socket))
        #expect(kind("socket") == S_IFSOCK)
    }
}
