import Glibc
import TestFolders
import Testing

@testable import DurableFiles

@Suite struct DaemonSocketTests {
    @Test func aNamedPathIsTakenAsItIs() { #expect(DaemonSocket.path("/run/other/socket") == "/run/other/socket") }

    @Test func withoutANameItIsTheDaemonsOwnFile() { #expect(DaemonSocket.path().hasSuffix("socket")) }

    @Test func nothingIsAbsent() throws {
        let directory = TestFolder()
        #expect(DaemonSocket.presence(at: directory.path + "/daemon.socket") == .absent)
    }

    @Test func aFileOrALinkIsNoSocket() throws {
        let directory = TestFolder()
        #expect(DaemonSocket.presence(at: directory.path) == .noSocket)
        let link = directory.path + "/link"
        try #require(symlink("/dev/log", link) == 0)
        #expect(DaemonSocket.presence(at: link) == .noSocket)
    }

    @Test func aSocketOfThisUserIsItsOwn() throws {
        let directory = TestFolder()
        let path = directory.path + "/daemon.socket"
        try bound(path)
        #expect(DaemonSocket.presence(at: path) == .own)
    }

    @Test(.enabled(if: geteuid() == 0)) func aSocketOfAnotherUserIsForeign() throws {
        let directory = TestFolder()
        let path = directory.path + "/daemon.socket"
        try bound(path)
        // In a user namespace there may be nobody else.
        guard chown(path, 1, 1) == 0 else { return }
        #expect(DaemonSocket.presence(at: path) == .foreign(owner: 1))
    }

    /// A socket at that path, with nobody behind it any more.
    private func bound(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
    }
}
