public import PlugModel
public import ProtocolCore

/// The controller's side of pairing with a plug, for one connection. It finishes with the plug's key to pin, or with an
/// error.
public struct PairingSession: Machine, Sendable {
    /// An event of the pairing connection.
    public enum Event: MachineEvent, Sendable {
        /// The TLS handshake is complete. The keys are those that TLS verified. `nonce` has 32 bytes from a generator
        /// that is suitable for secrets, drawn for this connection.
        case connected(plugKey: PublicKey, ownKey: PublicKey, nonce: [UInt8])
        /// The plug sent these bytes.
        case received([UInt8])
        /// The connection closed.
        case closed
        /// The time of ``nextDeadline`` has come.
        case deadlineReached
    }

    /// An action for the shell. Actions are performed in order.
    public enum Action: Hashable, Sendable {
        /// Send these bytes.
        case send([UInt8])
        /// Close the connection after all earlier bytes are sent.
        case close
        /// Finish. This is the last action. On success the caller pins the plug's key.
        case finish(Result<PairedPlug, PairingError>)
    }

    private enum Phase: Sendable {
        case idle
        /// PairingRequest was sent.
        case asking(plugKey: PublicKey, ownKey: PublicKey, nonce: [UInt8])
        /// The proof was sent.
        case proving(PairingTranscript)
        case ended
    }

    /// The maximum time from the TLS handshake to the plug's proof. After wrong proofs a plug delays the check of the
    /// next proofs by up to 30 s.
    static let patience = Duration.seconds(90)

    private let name: String
    private let code: SetupCode
    private var phase = Phase.idle
    private var decoder = FrameDecoder()
    private var givesUpAt: Instant?

    /// Creates a pairing.
    ///
    /// - Parameters:
    ///   - name: the name of this controller, at most 63 bytes.
    ///   - code: the code on the plug's label, or of an invitation.
    public init(name: String, code: SetupCode) {
        precondition(name.utf8.count <= PlugWire.maximumName, "a controller's name has at most 63 bytes")
        self.name = name
        self.code = code
    }

    /// The time at which the pairing fails because the plug has not completed it. Nil before the connection and after
    /// the end.
    public var nextDeadline: Instant? { givesUpAt }

    /// Handles an event and returns the actions that it requires.
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
                actions += try handle(message)
            } catch let fault as FrameFault {
                return actions + end(.failure(.protocolFault("\(fault)")))
            } catch let fault as MessageFault {
                return actions + end(.failure(.protocolFault("\(fault)")))
            } catch {
                preconditionFailure("no other error is thrown here: \(error)")
            }
        }
    }

    private mutating func handle(_ message: WirePlugMessage) throws(MessageFault) -> [Action] {
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
            // Messages of a later version are skipped.
            return []
        case (.asking, .some), (.proving, .some):
            return end(.failure(.protocolFault("unexpected message during pairing")))
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

/// A plug that has proved its knowledge of the setup code, and the key to pin.
public struct PairedPlug: Hashable, Sendable {
    /// The id of the plug.
    public var id: PlugID
    /// The key that TLS verified.
    public var key: PublicKey

    /// Creates a result.
    public init(id: PlugID, key: PublicKey) {
        self.id = id
        self.key = key
    }
}

/// The reason why a pairing failed. The controller has pinned no key.
public enum PairingError: Error, Hashable, Sendable {
    /// The plug's pairing window is closed.
    case windowClosed
    /// The plug rejected the proof.
    case wrongCode
    /// The peer does not know the setup code, so it is not the plug.
    case notThePlug
    /// The plug refused the pairing with this Goodbye.
    case refused(Goodbye)
    /// The peer violated the protocol.
    case protocolFault(String)
    /// The plug did not answer in time.
    case silent
    /// The connection was lost.
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
    /// The error for a user, with a hint if there is a remedy.
    public var description: String {
        switch self {
        case .windowClosed:
            "the plug's pairing window is closed\nhint: hold its button for five seconds, then try again within two minutes"
        case .wrongCode:
            "this is not the plug's setup code\nhint: the code is on the plug's label; `plugd identity` on the plug prints it"
        case .notThePlug:
            "the device that answered does not know the setup code, so nothing was paired\n"
                + "hint: a device may intercept the connection to the plug; try again on a network that you trust"
        case .refused(let goodbye): "the plug refused: \(goodbye.detail)"
        case .protocolFault(let detail): "the plug violated the protocol: \(detail)"
        case .silent:
            "the plug did not answer\nhint: another controller may be trying codes; wait a minute, then try again"
        case .connectionLost: "the connection to the plug was lost\nhint: try again"
        }
    }
}
