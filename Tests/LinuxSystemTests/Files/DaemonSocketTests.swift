import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("The socket of the daemon") struct DaemonSocketTests {
    @Test("A given path is used unchanged")
    func aNamedPathIsTakenAsItIs() { #expect(DaemonSocket.path("/run/other/socket") == "/run/other/socket") }

    @Test("Without a given path, the default path of the daemon is used")
    func withoutANameItIsTheDaemonsOwnFile() { #expect(DaemonSocket.path().hasSuffix("socket")) }

    @Test("A path without a file is reported as absent") func nothingIsAbsent() throws {
        let directory = TestFolder()
        #expect(DaemonSocket.presence(at: directory.path + "/daemon.socket") == .absent)
    }

    @Test("A folder or a link is not a socket") func aFileOrALinkIsNoSocket() throws {
        let directory = TestFolder()
        #expect(DaemonSocket.presence(at: directory.path) == .noSocket)
        let link = directory.path + "/link"
        try #require(symlink("/dev/log", link) == 0)
        #expect(DaemonSocket.presence(at: link) == .noSocket)
    }

    @Test("A socket of this user is recognized as the user's own") func aSocketOfThisUserIsItsOwn() throws {
        let directory = TestFolder()
        let path = directory.path + "/daemon.socket"
        try bound(path)
        #expect(DaemonSocket.presence(at: path) == .own)
    }

    @Test(
        "A socket of another user is foreign",
        .enabled(if: geteuid() == 0))
    func aSocketOfAnotherUserIsForeign() throws {
        let directory = TestFolder()
        let path = directory.path + "/daemon.socket"
        try bound(path)
        // A user namespace may have no other users.
        guard chown(path, 1, 1) == 0 else { return }
        #expect(DaemonSocket.presence(at: path) == .foreign(owner: 1))
    }

    /// Creates a socket at the path and closes it.
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
