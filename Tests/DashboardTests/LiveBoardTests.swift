import NIOCore
import PlugClient
import PlugModel
import Testing

@testable import Dashboard

@Suite struct LiveBoardTests {
    private let board = LiveBoard(rules: [], paired: PairedPlugs(directory: "/nowhere/at/all"))

    private func text(_ delivery: LiveBoard.Delivery) -> String? {
        guard case .messages(let messages) = delivery else { return nil }
        return messages.map { String(buffer: $0) }.joined()
    }

    private func report(_ update: PlugUpdate) -> PlugReport { PlugReport(plug: "Lamp", at: moment, update: update) }

    @Test func aReaderGetsTheHouseAndThenWhatHappens() async throws {
        let reader = try #require(await board.open(after: nil) {})
        let house = try #require(text(await board.next(reader)))
        #expect(house.hasPrefix("id: \(board.epoch)-0\nevent: house\ndata: {\"at\":"))
        #expect(house.hasSuffix("\n\n"))
        async let next = board.next(reader)
        await board.take(.report(report(connected())))
        var news = try #require(text(await next))
        // Both are one update; whether they come at once is no matter.
        if !news.contains("event: event") { news += try #require(text(await board.next(reader))) }
        #expect(news.contains("id: \(board.epoch)-1\nevent: plug\n"))
        #expect(news.contains("id: \(board.epoch)-2\nevent: event\n"))
    }

    @Test func whoComesBackGoesOnWhereItWas() async throws {
        await board.begin()
        await board.take(.report(report(connected())))
        let known = StreamPosition(epoch: board.epoch, number: 1)
        let back = try #require(await board.open(after: known) {})
        #expect(text(await board.next(back))?.hasPrefix("id: \(board.epoch)-2\nevent: event\n") == true)
        for unknown in [
            StreamPosition(epoch: board.epoch, number: 99), StreamPosition(epoch: "0123456789abcdef", number: 1),
        ] {
            let anew = try #require(await board.open(after: unknown) {})
            #expect(text(await board.next(anew))?.hasPrefix("id: \(board.epoch)-2\nevent: house\n") == true)
        }
    }

    @Test func whoWaitsIsLetGoAtTheEnd() async throws {
        let reader = try #require(await board.open(after: nil) {})
        _ = await board.next(reader)
        async let next = board.next(reader)
        await board.end()
        guard case .end = await next else { return #expect(Bool(false), "it goes on") }
        #expect(await board.open(after: nil) {} == nil)
    }

    @Test func readinessIsNotWaitedFor() async {
        #expect(await !board.beginsSoon())
        await board.begin()
        #expect(await board.beginsSoon())
    }

    @Test func whenThePasswordIsAnotherOneAllAreEnded() async throws {
        let (ended, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<3 { #expect(await board.open(after: nil) { continuation.yield(number) } != nil) }
        await board.endReaders()
        continuation.finish()
        #expect(await ended.reduce(into: Set()) { $0.insert($1) } == [0, 1, 2])
        #expect(await board.hasRoomForReader)
    }

    @Test func aReaderThatIsGoneLeavesItsPlace() async throws {
        for _ in 0..<StreamReaders.limit { #expect(await board.open(after: nil) {} != nil) }
        #expect(await board.open(after: nil) {} == nil)
        await board.close(1)
        #expect(await board.open(after: nil) {} != nil)
    }
}
