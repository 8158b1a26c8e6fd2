import Glibc
import TestSupport
import Testing

@testable import LinuxDevices

@Suite struct ServiceManagerTests {
    private let line = KeptLine(
        key: LineKey(chip: "gpiochip0", offset: 17), isActiveLow: true, consumer: "plugd relay")

    /// A socket of a service manager. The test reads the datagrams that it receives.
    private final class Listener {
        let folder: TestFolder
        let socket: Int32
        var path: String { folder.path + "/notify" }

        init() throws {
            folder = TestFolder()
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = UInt16(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
            }
            try #require(result == 0)
        }

        deinit { close(socket) }

        var message: String {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        }
    }

    private func manager(_ variables: [String: String], first: Int32 = 3) -> ServiceManager {
        ServiceManager(firstDescriptor: first) { variables[$0] }
    }

    @Test("The name of a kept line contains all properties that must be unchanged after a restart")
    func aLinesNameHasAllThatMustStillBeTrue() {
        #expect(line.name == "line.gpiochip0.17.low.plugd-relay")
        #expect(line.isSameLine(as: "line.gpiochip0.17.high.plugd-light"))
        #expect(!line.isSameLine(as: "line.gpiochip0.1.low.plugd-relay"))
        #expect(!line.isSameLine(as: "line.gpiochip01.17.low.plugd-relay"))
    }

    @Test("A kept line does not match a line with different properties")
    func aLineThatIsNotDrivenAsItsNameSaysDoesNotMatch() {
        let good = LineCatalogue.Line(
            name: "GPIO17", consumer: "plugd relay", isUsed: true, isOutput: true, isActiveLow: true)
        #expect(line.matches(good))
        var other = good
        other.isActiveLow = false
        #expect(!line.matches(other))
        other = good
        other.consumer = "fan"
        #expect(!line.matches(other))
        other = good
        other.isOutput = false
        #expect(!line.matches(other))
        other = good
        other.isUsed = false
        #expect(!line.matches(other))
    }

    @Test("Messages reach the manager") func whatIsToldReachesTheManager() throws {
        let listener = try Listener()
        let manager = manager(["NOTIFY_SOCKET": listener.path])
        manager.notify("READY=1")
        #expect(listener.message == "READY=1")
        manager.keep(0, as: line.name)
        #expect(listener.message == "FDSTORE=1\nFDNAME=line.gpiochip0.17.low.plugd-relay\nFDPOLL=0")
        manager.drop(line.name)
        #expect(listener.message == "FDSTOREREMOVE=1\nFDNAME=line.gpiochip0.17.low.plugd-relay")
    }

    @Test("Without a manager, messages are ignored") func withoutAManagerNothingHappens() {
        let manager = manager([:])
        manager.notify("READY=1")
        manager.keep(0, as: line.name)
        #expect(manager.names == [])
    }

    @Test("Each kept line is handed out once, by its name") func linesThatWereKeptAreTakenOnceByTheirNames() throws {
        let first = dup2(0, 700)
        let second = dup2(0, 701)
        defer {
            close(first)
            close(second)
        }
        let manager = manager(
            ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "web:\(line.name)"], first: 700)
        #expect(manager.names == [line.name])
        #expect(manager.take(line.name) == 701)
        #expect(manager.take(line.name) == nil)
        // A program that is started must not inherit the line.
        #expect(fcntl(701, F_GETFD) == FD_CLOEXEC)
    }

    @Test("Unclaimed lines are released") func whatNobodyTookIsLetGoOf() throws {
        let listener = try Listener()
        _ = dup2(0, 710)
        let manager = manager(
            [
                "LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1", "LISTEN_FDNAMES": line.name,
                "NOTIFY_SOCKET": listener.path,
            ], first: 710)
        manager.dropUnclaimed()
        #expect(listener.message == "FDSTOREREMOVE=1\nFDNAME=\(line.name)")
        #expect(fcntl(710, F_GETFD) == -1)
    }

    @Test("Descriptors for a different process are ignored") func descriptorsForAnotherProcessAreNotTaken() {
        #expect(manager(["LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": line.name]).names == [])
    }

    @Test("An implausible number of descriptors is ignored", arguments: ["x", "-1", "99999999999"])
    func aCountThatCannotBeTrueIsNone(count: String) {
        let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": count, "LISTEN_FDNAMES": "line.a.1.low.b"]
        #expect(manager(variables, first: 720).names == [])
    }
}
