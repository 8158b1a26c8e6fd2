public import PlugModel
public import ProtocolCore

/// The controller's side of pairing with one plug, on one connection. It ends with the plug's key to pin, or with why not.
public struct PairingSession: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// The keys are those that TLS verified. `nonce`: 32 bytes fit for secrets, drawn for this connection.
        case connected(plugKey: PublicKey, ownKey: PublicKey, nonce: [UInt8])
        case received([UInt8])
        case closed
        case deadlineReached
    }

    /// Performed in order.
    public enum Action: Hashable, Sendable {
        case send([UInt8])
        /// Close once what was sent before has gone out.
        case close
        /// The last action. Whoever gets a plug pins its key now.
        case finish(Result<PairedPlug, PairingError>)
    }

    private enum Phase: Sendable {
        case idle
        /// PairingRequest is out.
        case asking(plugKey: PublicKey, ownKey: PublicKey, nonce: [UInt8])
        /// The proof is out.
        case proving(PairingTranscript)
        case ended
    }

    /// The plug makes a guesser wait for up to 30 s before it looks at a proof, and others may be waiting.
    static let patience = Duration.seconds(90)

    private let name: String
    private let code: SetupCode
    private var phase = Phase.idle
    private var decoder = FrameDecoder()
    private var givesUpAt: Instant?

    /// - Parameters:
    ///   - name: what a person calls this controller, at most 63 bytes.
    ///   - code: from the plug's label.
    public init(name: String, code: SetupCode) {
        precondition(name.utf8.count <= PlugWire.maximumName, "a controller's name has at most 63 bytes")
        self.name = name
        self.code = code
    }

    public var nextDeadline: Instant? { givesUpAt }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .connected(let plugKey, let ownKey, let nonce):
            precondition(nonce.count == PairingTranscript.nonceLength, "a nonce has 32 bytes")
            phase = .asking(plugKey: plugKey, ownKey: ownKey, nonce: nonce)
            givesUpAt = now + Self.patience
            return [
                say {
                    $0.pairingRequest.version = PlugWire.version
                    $0.pairingRequest.controller = name
                    $0.pairingRequest.nonce = .init(nonce)
                }
            ]
        case .received(let bytes):
            decoder.append(bytes)
            return readAll()
        case .closed:
            return end(.failure(.connectionLost))
        case .deadlineReached:
            guard let givesUpAt, givesUpAt <= now else { return [] }
            return end(.failure(.silent))
        }
    }

    private mutating func readAll() -> [Action] {
        var actions: [Action] = []
        while true {
            if case .ended = phase { return actions }
            do {
                guard let message = try decoder.next(WirePlugMessage.self) else { return actions }
                actions += try take(message)
            } catch let fault as FrameFault {
                return actions + end(.failure(.protocolFault("\(fault)")))
            } catch let fault as MessageFault {
                return actions + end(.failure(.protocolFault("\(fault)")))
            } catch {
                preconditionFailure("no other error is thrown here: \(error)")
            }
        }
    }

    private mutating func take(_ message: WirePlugMessage) throws(MessageFault) -> [Action] {
        switch (phase, message.kind) {
        case (.asking, .goodbye(let wire)), (.proving, .goodbye(let wire)):
            return end(.failure(PairingError(wire.model)))
        case (.asking(let plugKey, let ownKey, let nonce), .pairingChallenge(let wire)):
            guard let plug = PlugID(rawValue: wire.plugID) else { throw .plugID }
            let transcript = PairingTranscript(
                version: PlugWire.version, plug: plug, plugKey: plugKey, controllerKey: ownKey,
                plugNonce: try WireScalar.nonce(wire.nonce), controllerNonce: nonce)
            phase = .proving(transcript)
            let proof = transcript.proof(of: .controller, code: code)
            return [say { $0.pairingProof.proof = .init(proof) }]
        case (.proving(let transcript), .pairingProof(let wire)):
            guard transcript.isProof(Array(wire.proof), of: .plug, code: code) else {
                return end(.failure(.notThePlug))
            }
            return end(.success(PairedPlug(id: transcript.plug, key: transcript.plugKey)))
        case (.asking, .ping(let wire)), (.proving, .ping(let wire)):
            return [say { $0.pong.token = wire.token }]
        case (.asking, nil), (.proving, nil):
            // A message of a later version is skipped.
            return []
        case (.asking, .some), (.proving, .some):
            return end(.failure(.protocolFault("a message came that does not belong into pairing")))
        case (.idle, _), (.ended, _):
            return []
        }
    }

    private mutating func end(_ result: Result<PairedPlug, PairingError>) -> [Action] {
        if case .ended = phase { return [] }
        phase = .ended
        givesUpAt = nil
        return [.close, .finish(result)]
    }

    private func say(_ fill: (inout WireControllerMessage) -> Void) -> Action {
        var message = WireControllerMessage()
        fill(&message)
        return .send(FrameEncoder.frame(message))
    }
}

/// A plug that proved to know the setup code, and its key: to be pinned.
public struct PairedPlug: Hashable, Sendable {
    public var id: PlugID
    public var key: PublicKey

    public init(id: PlugID, key: PublicKey) {
        self.id = id
        self.key = key
    }
}

/// Why a plug was not paired. Nothing was pinned here.
public enum PairingError: Error, Hashable, Sendable {
    case windowClosed
    case wrongCode
    /// Whoever answers does not know the code.
    case notThePlug
    /// The plug refused for another reason, which it gave.
    case refused(Goodbye)
    case protocolFault(String)
    case silent
    case connectionLost

    init(_ goodbye: Goodbye) {
        self =
            switch goodbye.reason {
            case .pairingClosed: .windowClosed
            case .wrongCode: .wrongCode
            case .stopping, .version, .malformed, .outOfOrder, .limit, .silent, .notPaired, .factoryReset, .resetFailed,
                .unknown:
                .refused(goodbye)
            }
    }
}

extension PairingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .windowClosed:
            "the plug does not let itself be paired now\nhint: hold its button for five seconds, then try again within two minutes"
        case .wrongCode:
            "this is not the plug's setup code\nhint: it stands on the plug's label; `plugd identity` on the plug shows it"
        case .notThePlug:
            "whoever answered does not know the setup code, so nothing was paired\n"
                + "hint: another device may stand between this one and the plug; try on a network that you trust"
        case .refused(let goodbye): "the plug refused: \(goodbye.detail)"
        case .protocolFault(let detail): "the plug did not keep to the protocol: \(detail)"
        case .silent: "the plug did not answer\nhint: somebody else may be trying codes; wait a minute, then try again"
        case .connectionLost: "the connection to the plug was lost\nhint: try again"
        }
    }
}
