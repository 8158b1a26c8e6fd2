import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import PlugClient

/// The log of a plug across disconnections, and for longer than the hour for which a plug grants one request.
@Suite struct LogTests {
    private func bench(tellsLog: Bool = true) -> FollowedBench {
        var bench = FollowedBench(cursor: nil, states: nil)
        var plug = lamp
        if tellsLog { plug.capabilities.insert(.log) }
        bench.server = PlugServer(
            identity: plug, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
        return bench
    }

    private func log(_ number: UInt64, _ bench: inout FollowedBench) {
        let line = LogLine(number: number, time: bench.now, level: .debug, part: "Test", message: "\(number)")
        bench.serve(.shell(.logged([line], lost: 0)))
    }

    private func updates(_ bench: FollowedBench) -> [LogUpdate] {
        bench.updates.compactMap { if case .log(let update) = $0 { update } else { nil } }
    }

    private func numbers(_ bench: FollowedBench) -> [UInt64] {
        updates(bench).compactMap { if case .line(let line) = $0 { line.number } else { nil } }
    }

    @Test("A line is delivered once although each connection repeats the stored lines")
    func aLineComesOnceAlthoughEachConnectionBringsWhatThePlugRemembers() {
        var bench = bench()
        bench.feed(.followLog(.debug, until: nil))
        log(1, &bench)
        bench.run(for: .seconds(1))
        bench.locateAndConnect()
        log(2, &bench)
        bench.breakConnection()
        bench.run(for: .milliseconds(1))
        log(3, &bench)
        bench.locateAndConnect()
        #expect(numbers(bench) == [1, 2, 3])
    }

    @Test("After a restart of the plug, all its new lines are delivered, although their numbers start at 1 again")
    func aPlugThatStartedAgainTellsItsLinesFromTheFirstOn() {
        var bench = bench()
        bench.feed(.followLog(.debug, until: nil))
        bench.locateAndConnect()
        bench.run(for: .seconds(1))
        log(1, &bench)
        bench.breakConnection()
        bench.server = self.bench().server
        bench.run(for: .seconds(1))
        log(1, &bench)
        bench.locateAndConnect()
        #expect(numbers(bench) == [1, 1])
    }

    @Test("A log subscription continues for hours without an interruption")
    func itGoesOnForHoursWithoutTheLevelFallingInBetween() {
        var bench = bench()
        bench.feed(.followLog(.debug, until: nil))
        bench.locateAndConnect()
        for hour in 1...5 as ClosedRange<UInt64> {
            bench.run(for: .seconds(3600))
            log(hour, &bench)
        }
        #expect(numbers(bench) == [1, 2, 3, 4, 5])
        #expect(!updates(bench).contains(.ended))
        #expect(bench.attempts.count == 1)
    }

    @Test("A log subscription with a duration ends when the duration has passed") func itEndsWhenItsTimeIsOver() {
        var bench = bench()
        bench.feed(.followLog(.debug, until: bench.now + .seconds(600)))
        bench.run(for: .seconds(100))
        bench.locateAndConnect()
        #expect(updates(bench) == [.following(.debug, for: .seconds(501))], "the remaining time is requested")
        bench.run(for: .seconds(502))
        #expect(updates(bench).last == .ended)
        log(1, &bench)
        bench.breakConnection()
        bench.locateAndConnect()
        #expect(numbers(bench) == [])
        #expect(bench.server.nextDeadline.map { $0 > bench.now } == true)
    }

    @Test("A plug without a log refuses once and is not asked again") func aPlugThatDoesNotTellItsLogIsAskedOnce() {
        var bench = bench(tellsLog: false)
        bench.feed(.followLog(.debug, until: nil))
        bench.locateAndConnect()
        bench.breakConnection()
        bench.locateAndConnect()
        guard case .refused(let refusal) = updates(bench).first, updates(bench).count == 1 else {
            Issue.record("\(updates(bench))")
            return
        }
        #expect(refusal.code == .unsupported)
    }
}
