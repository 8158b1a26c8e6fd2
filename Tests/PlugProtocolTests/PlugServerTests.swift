import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct PlugServerTests {
    @Test("Hello is answered with Welcome")
    func helloIsAnsweredWithWelcome() {
        var bench = Bench()
        bench.handle(.renamed("Lamp (2)"))
        bench.handle(opening(first, peer: "192.0.2.1"))
        bench.say(at: 2) { $0.hello.version = 1 }
        guard case .welcome(let welcome) = bench.take().first else {
            Issue.record("no Welcome was sent")
            return
        }
        #expect(welcome.version == 1)
        #expect(welcome.plugID == "0123456789ab")
        #expect(welcome.name == "Lamp (2)")
        #expect(welcome.capabilities == ["button", "meter", "relay"])
        #expect(Array(welcome.bootID) == boot.bytes)
        #expect(welcome.plugTime == 2_000_000_000)
    }

    /// Attack class: a name that a controller chooses itself is mistaken for its identity.
    @Test("A command has its controller's paired name, and in parentheses the name from Hello if it differs")
    func whoCommandsIsCalledAsItWasPaired() {
        var bench = Bench()
        bench.handle(opening(first))
        bench.say {
            $0.hello.version = 1
            $0.hello.controller = "The owner"
        }
        let actions = bench.say {
            $0.command.requestID = .init(request(1).bytes)
            $0.command.setRelay.on = true
        }
        #expect(
            actions == [
                .perform(
                    command(1), controller: "Desk (The owner)", .setRelay(on: true, autoOff: nil), deadline: at(5))
            ])
        var long = Bench()
        long.handle(opening(first))
        long.say {
            $0.hello.version = 1
            $0.hello.controller = String(repeating: "é", count: 31)
        }
        #expect(long.server.connections[0].controller == "Desk (" + String(repeating: "é", count: 28) + ")")
    }

    @Test(
        "A Hello of another version is refused, and the message names the side to update",
        arguments: [(0, "the controller"), (2, "the plug's firmware")])
    func anotherVersionIsToldWhichSideToUpdate(version: Int, side: String) {
        var bench = Bench()
        bench.handle(opening(first, peer: ""))
        let actions = bench.say { $0.hello.version = UInt32(version) }
        guard case .shell(.close(first, .ended(let goodbye))) = actions.first else {
            Issue.record("the connection was not closed")
            return
        }
        #expect(goodbye.reason == .version)
        #expect(goodbye.detail.hasSuffix("update \(side)."))
        #expect(bench.take().map(\.goodbyeReason) == [.version])
        #expect(bench.server.connections.isEmpty)
    }

    @Test("A message before Hello or a second Hello ends the session")
    func aMessageBeforeHelloAndASecondHelloEndTheSession() {
        var bench = Bench()
        bench.handle(opening(first, peer: ""))
        #expect(bench.say { $0.ping.token = 1 }.count == 1)
        #expect(bench.take().map(\.goodbyeReason) == [.outOfOrder])
        bench.greet(second)
        bench.say(on: second) { $0.hello.version = 1 }
        #expect(bench.take(second).map(\.goodbyeReason) == [.outOfOrder])
    }

    /// Attack class: the segmentation of the stream and the timing of flash decide how a session ends.
    @Test("Data after a request for a factory reset is not read")
    func nothingBehindFactoryResetIsRead() {
        var bench = Bench(access: access(paired: [deskKey]))
        bench.greet()
        let behind = controllerFrame {
            $0.command.requestID = .init(request(1).bytes)
            $0.command.setRelay.on = true
        }
        let reset = controllerFrame { $0.factoryReset = WireFactoryReset() }
        #expect(bench.handle(.received(first, reset + behind + [0xFF, 0xFF])) == [.factoryReset])
        #expect(bench.handle(.received(first, [0xFF, 0xFF] + behind)).isEmpty)
        bench.handle(.resetFailed)
        #expect(bench.take().map(\.goodbyeReason) == [.resetFailed])
    }

    @Test("A message of a later protocol version is ignored")
    func aMessageOfALaterVersionIsSkipped() {
        var bench = Bench()
        bench.greet()
        // Field 90, length-delimited, one byte.
        bench.handle(.received(first, [0, 0, 0, 4, 0xD2, 0x05, 1, 0]))
        bench.say { $0.ping.token = 4 }
        #expect(bench.take() == [.pong(.with(token: 4, plugTime: 0))])
    }

    @Test("Bytes that are not a frame end their session and no other")
    func whatIsNoFrameEndsTheSessionAndNoOther() {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        #expect(bench.handle(.received(first, [255, 255, 255, 255])).count == 1)
        #expect(bench.take(first).map(\.goodbyeReason) == [.malformed])
        bench.say(on: second) { $0.ping.token = 4 }
        #expect(bench.take(second) == [.pong(.with(token: 4, plugTime: 0))])
    }

    @Test("Connections beyond the limit are refused")
    func everyoneBeyondTheLimitIsSentAway() {
        var limits = PlugServer.Limits()
        limits.connections = 2
        var bench = Bench(limits: limits)
        bench.greet(first)
        bench.greet(second)
        bench.handle(opening(ConnectionID(rawValue: 3), peer: ""))
        #expect(bench.take(ConnectionID(rawValue: 3)).map(\.goodbyeReason) == [.limit])
        bench.handle(.closed(first))
        bench.greet(ConnectionID(rawValue: 4))
        #expect(bench.server.connections.map(\.id.rawValue) == [2, 4])
    }

    @Test("A silent peer gets a Ping every 20 seconds and is disconnected after 45 seconds")
    func aSilentPeerIsAskedAfter20SecondsAndLeftAfter45() {
        var bench = Bench()
        bench.greet(at: 100)
        #expect(bench.server.nextDeadline == at(120))
        #expect(bench.run(until: 144.9).isEmpty)
        #expect(bench.take() == [.ping(.with(token: 1)), .ping(.with(token: 2))])
        #expect(bench.server.nextDeadline == at(145))
        #expect(bench.run(until: 145).count == 1)
        #expect(bench.take().map(\.goodbyeReason) == [.silent])
        #expect(bench.server.nextDeadline == nil)
    }

    @Test("A peer that sends bytes slowly before Hello is disconnected after 45 seconds")
    func tricklingBytesBeforeHelloKeepsNoPlace() {
        var bench = Bench()
        bench.handle(opening(first, peer: ""), at: 0)
        for second in 1...44 { bench.handle(.received(first, second == 1 ? [0] : []), at: Double(second)) }
        _ = bench.run(until: 45)
        #expect(bench.take().map(\.goodbyeReason) == [.silent])
    }

    @Test("Stopping sends Goodbye to all sessions and refuses new ones")
    func stopSaysGoodbyeToAllAndAcceptsNobody() {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        #expect(bench.handle(.stop).count == 2)
        #expect(bench.take(first).map(\.goodbyeReason) == [.stopping])
        #expect(bench.take(second).map(\.goodbyeReason) == [.stopping])
        bench.handle(opening(ConnectionID(rawValue: 3), peer: ""))
        #expect(bench.take(ConnectionID(rawValue: 3)).map(\.goodbyeReason) == [.stopping])
    }

    @Test("Fetches of a session are answered one after another, and chunks are read only while the peer can receive")
    func fetchesAreAnsweredOneByOneAndAtThePeersPace() {
        var bench = Bench()
        bench.greet()
        func fetch(_ id: UInt32, _ from: Double, _ to: Double) -> [PlugServer.Action] {
            bench.say {
                $0.fetchSamples.fetchID = id
                $0.fetchSamples.from = UInt64(from * 1e9)
                $0.fetchSamples.to = UInt64(to * 1e9)
            }
        }
        #expect(fetch(1, 10, 20) == [.fetch(first, fetch: 1, from: at(10), to: at(20))])
        #expect(fetch(2, 0, 1) == [])
        bench.handle(.writable(first, false))
        #expect(bench.handle(.samples(first, fetch: 1, chunk: [1, 2], next: at(15))) == [])
        #expect(bench.handle(.writable(first, true)) == [.fetch(first, fetch: 1, from: at(15), to: at(20))])
        #expect(
            bench.handle(.samples(first, fetch: 1, chunk: [3], next: nil))
                == [.fetch(first, fetch: 2, from: at(0), to: at(1))])
        bench.handle(.samples(first, fetch: 2, chunk: [], next: nil))
        let chunks = bench.take().map { kind -> [Int] in
            guard case .samples(let chunk) = kind else { return [] }
            return [Int(chunk.fetchID)] + chunk.chunk.map { Int($0) } + [chunk.last ? 100 : 0]
        }
        #expect(chunks == [[1, 1, 2, 0], [1, 3, 100], [2, 100]])
    }
}

extension WirePing {
    static func with(token: UInt64) -> WirePing {
        var ping = WirePing()
        ping.token = token
        return ping
    }
}

extension WirePong {
    static func with(token: UInt64, plugTime: UInt64) -> WirePong {
        var pong = WirePong()
        pong.token = token
        pong.plugTime = plugTime
        return pong
    }
}
