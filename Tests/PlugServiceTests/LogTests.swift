import Foundation
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugModel
import ProtocolCore
import Testing

@testable import PlugService

@Suite(.timeLimit(.minutes(1))) struct LogTests {
    @Test("A press is logged as a debug line in the session that follows the log, but not in the journal")
    func aPressIsTheDebugLineOfWhoFollowsAndNotTheJournals() async throws {
        let (relay, journal) = (LogRelay(), CollectedLog())
        let plug = try await RunningPlug(log: relay, journal: journal)
        let desk = try await plug.controller()
        var heard = desk.updates.makeAsyncIterator()
        await desk.followLog(.debug, for: .seconds(60))
        while let update = await heard.nextLog(), update != .following(.debug, for: .seconds(60)) {}
        _ = try await plug.ask(.press(.single))
        #expect(relay.followed == .debug)
        var messages: [String] = []
        let wanted: Set = ["the button is down", "relay on"]
        while !wanted.isSubset(of: messages), let update = await heard.nextLog() {
            if case .line(let line) = update { messages.append(line.message) }
        }
        #expect(wanted.isSubset(of: messages))
        #expect(journal.text.contains("a client follows the log over the network, at level debug"))
        #expect(!journal.text.contains("the button is"))
        await desk.followLog(.debug, for: .zero)
        while let update = await heard.nextLog(), update != .ended {}
        // The answer shows that the event loop has handled the request.
        _ = try await plug.ask(.status)
        #expect(relay.followed == nil)
        await plug.stop()
        #expect(journal.text.contains("no client follows the log"))
    }

    /// The journal logs at its most detailed level, trace.
    @Test("No log line contains a setup code or a key") func neitherSetupCodeNorKeyIsInAnyLine() async throws {
        let (relay, journal) = (LogRelay(), CollectedLog(level: .trace))
        let plug = try await RunningPlug(log: relay, journal: journal)
        var heard = try await plug.controller().updates.makeAsyncIterator()
        _ = await heard.snapshot()
        _ = try await plug.ask(.press(.single))
        _ = await heard.nextEvent()
        let access = await plug.service.machine.access
        let code = try #require(access.code)
        await plug.stop()
        #expect(journal.text.contains("controller connected") && journal.text.contains("relay on"))
        #expect(!journal.text.contains(code.text) && !journal.text.contains(code.text.replacing("-", with: "")))
        let pem = try #require(plug.directory.text("key"))
        for line in pem.split(separator: "\n") where !line.hasPrefix("-") { #expect(!journal.text.contains(line)) }
    }

    @Test("While the event loop is blocked, lines beyond the limit are dropped and counted")
    func aLoopThatIsHeldUpLosesTheNewestLinesAndTheyAreCounted() {
        let relay = LogRelay()
        for number in 1...300 { relay.receive(.info, part: "Test", "\(number)") }
        relay.handOver { lines, lost in
            #expect(lines.map(\.number) == Array(1...200) && lost == 100)
            #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.time <= $1.time })
        }
        relay.receive(.info, part: "Test", "301")
        relay.handOver { lines, lost in #expect(lines.map(\.number) == [301] && lost == 0) }
    }

    @Test("Lines that are logged while lines are handed over are not relayed")
    func whatHandingLinesOverCausesToBeLoggedCausesNoMore() async throws {
        let relay = LogRelay()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let woken = loop.makePromise(of: Void.self)
        relay.attach(to: loop) { woken.succeed() }
        relay.receive(.info, part: "Test", "first")
        try await woken.futureResult.get()
        let handedOver = try await loop.submit {
            var all: [String] = []
            relay.handOver { lines, _ in
                all += lines.map(\.message)
                relay.receive(.info, part: "Test", "caused by it")
            }
            relay.receive(.info, part: "Test", "second")
            relay.handOver { lines, _ in all += lines.map(\.message) }
            return all
        }.get()
        #expect(handedOver == ["first", "second"])
    }

    @Test("The log level is the configured one unless a session requests a more detailed one")
    func theLevelIsThatOfTheConfigurationUnlessSomebodyWantsMore() {
        let (relay, journal) = (LogRelay(), CollectedLog())
        var logger = Logger(label: "test") { _ in relay.handler(over: journal.handler) }
        #expect(logger.logLevel == .info)
        relay.follow(.trace)
        #expect(logger.logLevel == .trace)
        logger.trace("for followers", metadata: ["b": "2", "a": "1"])
        relay.follow(.error)
        #expect(logger.logLevel == .info)
        relay.follow(nil)
        logger.logLevel = .warning
        #expect(logger.logLevel == .warning)
        logger.info("too low")
        logger.error("for all readers")
        #expect(journal.text == "for all readers\n")
        relay.handOver { lines, _ in
            #expect(lines.map(\.message) == ["for followers a=1 b=2", "for all readers"])
            #expect(lines.map(\.part) == ["PlugServiceTests", "PlugServiceTests"])
        }
    }
}
