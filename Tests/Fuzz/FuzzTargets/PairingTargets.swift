import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Sends bytes of an unpaired peer, in several segmentations, to a plug whose pairing window is open. The plug
    /// carries out no command of the peer, answers in complete frames, and pairs only after a proof of the code.
    static let pairingPlug = FuzzTarget(
        name: "pairing-plug",
        seeds: { [Courtship.recorded.fromController] },
        check: { bytes in
            var isAnswered = false
            for pieces in cuts(of: bytes) {
                var plug = FuzzedPlug.prepared
                let before = plug.server.access.controllers
                try plug.handle(.shell(.opened(PlugServer.Opening(Courtship.connection, of: .stranger))))
                for piece in pieces { try plug.handle(.shell(.received(Courtship.connection, piece))) }
                let isPaired = plug.server.access.controllers != before
                try require(!isPaired || holds(bytes, Courtship.recorded.fromController), "paired without a proof")
                try require(isPaired || plug.performs.isEmpty && plug.fetches.isEmpty, "an unpaired peer is served")
                let frames = try countFrames(plug.sent[Courtship.connection] ?? [])
                if frames > (plug.ends[Courtship.connection] == nil ? 0 : 1) { isAnswered = true }
            }
            return isAnswered
        })

    /// Sends arbitrary answers, in several segmentations, to a controller that pairs. The result is the same for each
    /// segmentation, and a plug is pinned only after a proof of the code.
    static let pairingSession = FuzzTarget(
        name: "pairing-session",
        seeds: { [Courtship.recorded.fromPlug] },
        check: { bytes in
            var first: [Result<PairedPlug, PairingError>]?
            for pieces in cuts(of: bytes) {
                var suitor = Suitor()
                for piece in pieces { suitor.handle(.received(piece)) }
                _ = try countFrames(suitor.said)
                try require(suitor.results.count <= 1, "pairing ended twice")
                if case .success? = suitor.results.first {
                    try require(
                        holds(bytes, Courtship.recorded.fromPlug.suffix(32)), "a plug is pinned without a proof")
                }
                try require(first == nil || first == suitor.results, "pairing ended with \(suitor.results)")
                first = suitor.results
            }
            return Suitor.proves(after: bytes)
        })

    private static func holds(_ bytes: [UInt8], _ frames: some Collection<UInt8>) -> Bool {
        // The proof is the last message that each side sends.
        let proof = Array(frames.suffix(32))
        return bytes.indices.contains { bytes[$0...].starts(with: proof) }
    }
}

/// The recorded bytes of one honest pairing with the fuzzed plug.
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
            try plug.handle(.shell(.opened(PlugServer.Opening(Self.connection, of: .stranger))))
            while !suitor.said.isEmpty {
                let said = suitor.take()
                fromController += said
                try plug.handle(.shell(.received(Self.connection, said)))
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

/// A controller that knows the code and pairs.
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

    /// Returns true if these bytes make the controller answer, so they contain at least a challenge.
    static func proves(after bytes: [UInt8]) -> Bool {
        var suitor = Suitor()
        let request = suitor.take()
        suitor.handle(.received(bytes))
        return !request.isEmpty && !suitor.said.isEmpty
    }
}
