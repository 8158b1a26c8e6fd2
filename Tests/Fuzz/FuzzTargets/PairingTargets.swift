import MadeUpKeys
import PlugModel
import PlugProtocol
import ProtocolCore

extension FuzzTarget {
    /// Whatever somebody who is not paired sends to a plug whose window is open, in whatever pieces: the plug does nothing for
    /// him, answers in whole frames, and pairs with nobody who did not prove the code.
    static let pairingPlug = FuzzTarget(
        name: "pairing-plug",
        seeds: { [Courtship.recorded.fromController] },
        check: { bytes in
            var isAnswered = false
            for pieces in cuts(of: bytes) {
                var plug = FuzzedPlug.prepared
                let before = plug.server.access.controllers
                try plug.handle(.opened(PlugServer.Opening(Courtship.connection, of: .stranger)))
                for piece in pieces { try plug.handle(.received(Courtship.connection, piece)) }
                let isPaired = plug.server.access.controllers != before
                try require(!isPaired || holds(bytes, Courtship.recorded.fromController), "paired without a proof")
                try require(isPaired || plug.performs.isEmpty && plug.fetches.isEmpty, "a stranger is served")
                let frames = try countFrames(plug.sent[Courtship.connection] ?? [])
                if frames > (plug.ends[Courtship.connection] == nil ? 0 : 1) { isAnswered = true }
            }
            return isAnswered
        })

    /// Whatever answers a controller that wants to be paired, in whatever pieces: it comes to the same end, and pins nobody
    /// who did not prove the code.
    static let pairingSession = FuzzTarget(
        name: "pairing-session",
        seeds: { [Courtship.recorded.fromPlug] },
        check: { bytes in
            var first: [Result<PairedPlug, PairingError>]?
            for pieces in cuts(of: bytes) {
                var suitor = Suitor()
                for piece in pieces { suitor.handle(.received(piece)) }
                _ = try countFrames(suitor.said)
                try require(suitor.results.count <= 1, "it ended twice")
                if case .success? = suitor.results.first {
                    try require(
                        holds(bytes, Courtship.recorded.fromPlug.suffix(32)), "a plug is pinned without a proof")
                }
                try require(first == nil || first == suitor.results, "it ended with \(suitor.results) here")
                first = suitor.results
            }
            return Suitor.proves(after: bytes)
        })

    private static func holds(_ bytes: [UInt8], _ frames: some Collection<UInt8>) -> Bool {
        // The proof is the last thing that either side says.
        let proof = Array(frames.suffix(32))
        return bytes.indices.contains { bytes[$0...].starts(with: proof) }
    }
}

/// One honest pairing with the fuzzed plug, as it went over the wire.
private struct Courtship {
    static let connection = ConnectionID(rawValue: 9)
    static let recorded = Courtship()
    private(set) var fromController: [UInt8]
    private(set) var fromPlug: [UInt8] = []

    private init() {
        do {
            var plug = FuzzedPlug.prepared
            var suitor = Suitor()
            fromController = []
            try plug.handle(.opened(PlugServer.Opening(Self.connection, of: .stranger)))
            while !suitor.said.isEmpty {
                let said = suitor.take()
                fromController += said
                try plug.handle(.received(Self.connection, said))
                let answer = plug.take(Self.connection)
                fromPlug += answer
                suitor.handle(.received(answer))
            }
            guard case .success? = suitor.results.first else { preconditionFailure("not paired: \(suitor.results)") }
        } catch {
            preconditionFailure("an honest pairing fails: \(error)")
        }
    }
}

/// A controller that knows the code and wants to be paired.
private struct Suitor {
    private var session = PairingSession(name: "Tablet", code: .label)
    private(set) var said: [UInt8] = []
    private(set) var results: [Result<PairedPlug, PairingError>] = []

    init() {
        let nonce = [UInt8](repeating: 9, count: PairingTranscript.nonceLength)
        handle(.connected(plugKey: .plug, ownKey: .stranger, nonce: nonce))
    }

    mutating func handle(_ event: PairingSession.Event) {
        for action in session.handle(event, now: FuzzedPlug.now) {
            switch action {
            case .send(let bytes): said += bytes
            case .close: break
            case .finish(let result): results.append(result)
            }
        }
    }

    mutating func take() -> [UInt8] {
        defer { said = [] }
        return said
    }

    /// Whether these bytes are a challenge, at least.
    static func proves(after bytes: [UInt8]) -> Bool {
        var suitor = Suitor()
        let request = suitor.take()
        suitor.handle(.received(bytes))
        return !request.isEmpty && !suitor.said.isEmpty
    }
}
