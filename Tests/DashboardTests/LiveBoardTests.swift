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

    @Test("A reader gets the house first, and then each change")
    func aReaderGetsTheHouseAndThenWhatHappens() async throws {
        let reader = try #require(await board.open(after: nil) {})
        let house = try #require(text(await board.next(reader)))
        #expect(house.hasPrefix("id: \(board.epoch)-0\nevent: house\ndata: {\"at\":"))
        #expect(house.hasSuffix("\n\n"))
        async let next = board.next(reader)
        await board.handle(.report(report(connected())))
        var news = try #require(text(await next))
        // Both messages are of one update, and may arrive together or separately.
        if !news.contains("event: event") { news += try #require(text(await board.next(reader))) }
        #expect(news.contains("id: \(board.epoch)-1\nevent: plug\n"))
        #expect(news.contains("id: \(board.epoch)-2\nevent: event\n"))
    }

    @Test("A reader that reconnects continues at its position")
    func whoComesBackGoesOnWhereItWas() async throws {
        await board.begin()
        let first = try #require(await board.open(after: nil) {})
        await board.close(first)
        await board.handle(.report(report(connected())))
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

    @Test("The end of the board ends the stream of a waiting reader")
    func whoWaitsIsLetGoAtTheEnd() async throws {
        let reader = try #require(await board.open(after: nil) {})
        _ = await board.next(reader)
        async let next = board.next(reader)
        await board.end()
        guard case .end = await next else { return #expect(Bool(false), "the stream does not end") }
        #expect(await board.open(after: nil) {} == nil)
    }

    @Test("The board reports whether it is ready")
    func readinessIsNotWaitedFor() async {
        #expect(await !board.beginsSoon())
        await board.begin()
        #expect(await board.beginsSoon())
    }

    private func pass(_ role: Role, _ password: String, session: String? = nil) -> Authorization {
        Authorization(role: role, session: session, password: password)
    }

    @Test("The end of a session or password ends only its own streams")
    func endsOnlyItsOwnStreams() async throws {
        let (ended, continuation) = AsyncStream.makeStream(of: String.self)
        for (name, pass) in [
            ("owner", pass(.owner, "o", session: "1")), ("owner's script", pass(.owner, "o")), ("local", .owner),
            ("viewer", pass(.viewer, "v", session: "2")), ("viewer's tablet", pass(.viewer, "v", session: "3")),
        ] { #expect(await board.open(after: nil, for: pass) { continuation.yield(name) } != nil) }
        var heard = ended.makeAsyncIterator()
        await board.endReaders(of: [Login.entrance(ofSession: "2")])
        continuation.yield("-")
        #expect(await heard.next() == "viewer")
        #expect(await heard.next() == "-")
        // The viewer's password is removed.
        let newest = await board.nextReader
        await board.endReaders(without: ["o", Login.entrance(ofSession: "1")], until: newest)
        continuation.finish()
        #expect(await ended.reduce(into: Set()) { $0.insert($1) } == ["viewer", "viewer's tablet"])
    }

    @Test("A check of sessions and passwords ends no stream that started after the check began")
    func newStreamsStay() async throws {
        let (ended, continuation) = AsyncStream.makeStream(of: String.self)
        let newest = await board.nextReader
        _ = await board.open(after: nil, for: pass(.viewer, "v", session: "2")) { continuation.yield("viewer") }
        await board.endReaders(without: [], until: newest)
        continuation.finish()
        #expect(await ended.reduce(into: Set()) { $0.insert($1) } == [])
    }

    @Test("A viewer with as many streams as possible leaves seats for owners and for the local socket")
    func streamsHaveSeats() async throws {
        var viewers = 0
        while await board.open(after: nil, for: pass(.viewer, "v"), close: {}) != nil { viewers += 1 }
        #expect(viewers == SeatLimits.streams.password)
        #expect(
            await board.open(after: nil, for: pass(.viewer, "w"), close: {}) != nil,
            "each password must have its own limit of streams")
        var owners = 0
        while await board.open(after: nil, for: pass(.owner, "o"), close: {}) != nil { owners += 1 }
        #expect(owners == SeatLimits.streams.network - viewers - 1)
        var local = 0
        while await board.open(after: nil, for: .owner, close: {}) != nil { local += 1 }
        #expect(local == SeatLimits.streams.all - SeatLimits.streams.network)
        await board.close(1)
        #expect(
            await board.open(after: nil, for: pass(.viewer, "v"), close: {}) != nil, "a closed stream must free a seat")
    }

    @Test("The connections of all other users together leave seats for the owners")
    func othersLeaveOwnersSeats() {
        var seats = SeatCounter(.streams)
        var others = 0
        for password in 0..<100 { while seats.take(.other(password: "\(password)")) { others += 1 } }
        #expect(others == SeatLimits.streams.others)
        let room = seats.hasRoom(for: .owner) && seats.hasRoom(for: .local) && seats.hasRoom(for: .open)
        #expect(room)
    }

    @Test("A closed reader frees its place")
    func aReaderThatIsGoneLeavesItsPlace() async throws {
        for _ in 0..<SeatLimits.streams.all { #expect(await board.open(after: nil) {} != nil) }
        #expect(await board.open(after: nil) {} == nil)
        await board.close(1)
        #expect(await board.open(after: nil) {} != nil)
    }
}
