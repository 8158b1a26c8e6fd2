import LinuxSystem
import NIOPosix
import PlugModel
import TestSupport
import Testing

@testable import PlugClient

/// Tests that a crashed process stores the id of the plug whose data it was processing.
@Suite(.serialized) struct PlugInHandTests {
    @Test(
        "A process that crashes stores the id of the plug that its crashing thread was handling",
        arguments: ["0a0b0c0d0e0f", "000000000000"])
    func theDyingThreadsPlugIsLeft(id: String) async throws {
        let folder = TestFolder()
        let path = folder.path + "/died"
        await #expect(processExitsWith: .failure) { [path = path as String, id = id as String] in
            precondition(CrashAttribution.leave(in: path) == nil)
            let other = Task {
                CrashAttribution.during(PlugID(rawValue: "bbbbbbbbbbbb")) {}
            }
            await other.value
            CrashAttribution.during(PlugID(rawValue: "cccccccccccc")) {
                // The innermost call with a plug counts. Calls that have ended and calls with nil do not.
                CrashAttribution.during(PlugID(rawValue: "dddddddddddd")) {}
                CrashAttribution.during(PlugID(rawValue: id)) {
                    CrashAttribution.during(nil) { fatalError("as a trap does") }
                }
            }
        }
        let words = try line(path)
        #expect(words.count == 3 && words[1] == id)
        // SIGILL or SIGTRAP, depending on the processor.
        #expect(["4", "5"].contains(words[0]))
        #expect(try #require(Int64(words[2])) > 1_700_000_000)
    }

    @Test("A crash while no plug's data is processed stores a hyphen instead of an id")
    func whoDiesWithoutAPlugLeavesNone() async throws {
        let folder = TestFolder()
        let path = folder.path + "/died"
        await #expect(processExitsWith: .failure) { [path = path as String] in
            precondition(CrashAttribution.leave(in: path) == nil)
            CrashAttribution.during(PlugID(rawValue: "bbbbbbbbbbbb")) {}
            fatalError("as a trap does")
        }
        #expect(try line(path).dropFirst().first == "-")
    }

    @Test("A process that exits normally stores nothing") func whoEndsInOrderLeavesNothing() async throws {
        let folder = TestFolder()
        let path = folder.path + "/died"
        await #expect(processExitsWith: .success) { [path = path as String] in
            precondition(CrashAttribution.leave(in: path) == nil)
            CrashAttribution.during(PlugID(rawValue: "bbbbbbbbbbbb")) {}
        }
        #expect(try FileStore().read(path, limit: 100) == [])
    }

    @Test("A report contains the id of its plug") func aReportSaysWhoseWordsItIsMadeOf() async throws {
        let plug = PlugID(rawValue: "0a0b0c0d0e0f")!
        let machine = PlugFollower(controllerName: "Desk", cursor: .now, stateOptions: nil, seed: 1)
        let followed = FollowedPlug(
            name: "Lamp", machine: machine, eventLoop: MultiThreadedEventLoopGroup.singleton.next()
        ) { _ in }
        let connection = ConnectionID(rawValue: 1)
        await followed.handle(.located)
        await followed.handle(.dialling(plug))
        await followed.handle(.opened(connection))
        await followed.handle(.closed(connection))
        var reports = followed.reports.makeAsyncIterator()
        let report = try #require(await reports.next())
        #expect(report.source == plug && HouseFollower.Update.report(report).source == plug)
        #expect(HouseFollower.Update.found("Lamp").source == nil)
        await followed.stop()
    }

    private func line(_ path: String) throws -> [String] {
        String(decoding: try FileStore().read(path, limit: 100), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init)
    }
}
