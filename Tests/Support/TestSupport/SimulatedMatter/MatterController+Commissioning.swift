import Crypto
import MatterSessions
import MatterWire
import ProtocolCore

/// The progress of a commissioning.
struct Commissioning: Sendable {
    /// The steps, in order.
    enum Step: Int, Sendable {
        case passcodeSession, failSafe, regulatory, dac, pai, attestation, signingRequest, root, certificate
        case operationalSession, complete
    }

    /// The ticket of the whole commissioning.
    var ticket: MatterTicket
    var current: Step
    /// The ticket of the current step.
    var step: MatterTicket?
    var deviceKey: [UInt8] = []
    var attestationKey: [UInt8] = []
    var nonce: [UInt8] = []
    var fabric: UInt8 = 0
}

/// The clusters and commands of commissioning.
private enum Command {
    static let armFailSafe = CommandPath(endpoint: 0, cluster: 0x30, command: 0x00)
    static let setRegulatoryConfig = CommandPath(endpoint: 0, cluster: 0x30, command: 0x02)
    static let commissioningComplete = CommandPath(endpoint: 0, cluster: 0x30, command: 0x04)
    static let attestationRequest = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x00)
    static let certificateChainRequest = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x02)
    static let signingRequest = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x04)
    static let addNOC = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x06)
    static let addTrustedRoot = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x0B)
}

extension MatterController {
    /// The vendor id that AddNOC names: the first test vendor.
    private static let vendor: UInt64 = 0xFFF1
    /// The longest time of a commissioning on a link that loses datagrams.
    private static let commissioningLimit = Duration.seconds(300)

    mutating func startCommissioning(_ passcode: UInt32, _ ticket: MatterTicket, now: Instant) {
        // The sessions of an earlier commissioning are useless to a device that was reset.
        for session in sessions { removeSession(session.id, now: now) }
        deadlines[ticket] = now + Self.commissioningLimit
        commissioning = Commissioning(ticket: ticket, current: .passcodeSession)
        runStep(.connectWithPasscode(passcode), now: now)
    }

    private mutating func runStep(_ request: MatterControllerRequest, now: Instant) {
        // The ticket is known only after `begin`, which can fail at once.
        let step = begin(request, now: now)
        commissioning?.step = step
        if let result = outcomes.removeValue(forKey: step) { continueCommissioning(result, now: now) }
    }

    private mutating func invoke(_ path: CommandPath, _ fields: TLVValue, now: Instant) {
        runStep(.invoke(path, fields), now: now)
    }

    mutating func continueCommissioning(_ result: Result<MatterOutcome, MatterControllerFault>, now: Instant) {
        guard let ticket = commissioning?.ticket else { return }
        commissioning?.step = nil
        do throws(MatterControllerFault) {
            switch result {
            case .success(let outcome): try advance(outcome, now: now)
            case .failure(let fault): throw fault
            }
        } catch {
            commissioning = nil
            finish(ticket, .failure(error), now: now)
        }
    }

    private mutating func advance(_ outcome: MatterOutcome, now: Instant) throws(MatterControllerFault) {
        guard var state = commissioning, let next = Commissioning.Step(rawValue: state.current.rawValue + 1) else {
            return try complete(outcome, now: now)
        }
        try check(outcome, &state)
        state.current = next
        commissioning = state
        switch next {
        case .passcodeSession: break
        case .failSafe:
            invoke(Command.armFailSafe, .fields((0, .unsigned(60)), (1, .unsigned(1))), now: now)
        case .regulatory:
            let fields = TLVValue.fields((0, .unsigned(0)), (1, .text("XX")), (2, .unsigned(2)))
            invoke(Command.setRegulatoryConfig, fields, now: now)
        case .dac: invoke(Command.certificateChainRequest, .fields((0, .unsigned(1))), now: now)
        case .pai: invoke(Command.certificateChainRequest, .fields((0, .unsigned(2))), now: now)
        case .attestation: invoke(Command.attestationRequest, .fields((0, newNonce())), now: now)
        case .signingRequest: invoke(Command.signingRequest, .fields((0, newNonce())), now: now)
        case .root:
            invoke(Command.addTrustedRoot, .fields((0, .bytes(issuer.root.encoded))), now: now)
        case .certificate: try addCertificate(state.deviceKey, now: now)
        case .operationalSession: runStep(.connect, now: now)
        case .complete: invoke(Command.commissioningComplete, .fields(), now: now)
        }
    }

    private mutating func newNonce() -> TLVValue {
        let nonce = randomness.bytes(32)
        commissioning?.nonce = nonce
        return .bytes(nonce)
    }

    private mutating func addCertificate(_ key: [UInt8], now: Instant) throws(MatterControllerFault) {
        let certificate: MatterCertificate
        do {
            certificate = try issuer.issue(to: key, node: deviceNode)
        } catch {
            throw .invalid("the key of the signing request: \(error)")
        }
        let fields = TLVValue.fields(
            (0, .bytes(certificate.encoded)), (1, issuer.intermediate.map { .bytes($0.encoded) }),
            (2, .bytes(issuer.identityProtectionKey)), (3, .unsigned(administrator)), (4, .unsigned(Self.vendor)))
        invoke(Command.addNOC, fields, now: now)
    }

    private mutating func complete(_ outcome: MatterOutcome, now: Instant) throws(MatterControllerFault) {
        guard let state = commissioning else { return }
        try checkError(outcome, "CommissioningComplete")
        commissioning = nil
        // The device has ended the session of PASE.
        for session in sessions where session.kind == .commissioning { removeSession(session.id, now: now) }
        finish(state.ticket, .success(.commissioned(fabric: state.fabric)), now: now)
    }

    private mutating func removeSession(_ id: SessionID, now: Instant) {
        sessions.removeAll { $0.id == id }
        handle(messages.end(where: { $0.id == id }, notifying: false, now: now), now: now)
    }

    // MARK: Checks of the answers

    private func check(_ outcome: MatterOutcome, _ state: inout Commissioning) throws(MatterControllerFault) {
        switch state.current {
        case .passcodeSession, .operationalSession: break
        case .failSafe: try checkError(outcome, "ArmFailSafe")
        case .regulatory: try checkError(outcome, "SetRegulatoryConfig")
        case .dac:
            let certificate = try answer(outcome, 0x3E, 0x03)[0]?.asBytes ?? []
            guard let key = DERParts.publicKey(in: certificate) else { throw .invalid("the DAC") }
            state.attestationKey = key
        case .pai:
            guard try answer(outcome, 0x3E, 0x03)[0]?.asBytes?.isEmpty == false else {
                throw .invalid("the PAI")
            }
        case .attestation:
            let elements = try attested(outcome, 0x01, state)
            guard elements[2]?.asBytes == state.nonce, elements[1]?.asBytes?.isEmpty == false
            else { throw .invalid("the attestation's elements") }
        case .signingRequest:
            let elements = try attested(outcome, 0x05, state)
            guard elements[2]?.asBytes == state.nonce, let request = elements[1]?.asBytes,
                let parts = DERParts.signed(request), let key = DERParts.publicKey(in: parts.content),
                isValid(parts.signature, of: parts.content, by: key)
            else { throw .invalid("the signing request") }
            state.deviceKey = key
        case .root:
            guard case .invoked(let replies) = outcome, case .status(_, let status, _) = replies.first else {
                throw .invalid("AddTrustedRootCertificate has no status")
            }
            guard status.code == .success else { throw .status(status.code) }
        case .certificate:
            let reply = try answer(outcome, 0x3E, 0x08)
            guard let code = reply[0]?.asUnsigned else { throw .invalid("NOCResponse") }
            guard code == 0 else { throw .refused(step: "AddNOC", code: code) }
            guard let fabric = reply[1]?.unsigned(UInt8.self) else { throw .invalid("NOCResponse") }
            state.fabric = fabric
        case .complete: break
        }
    }

    /// Returns the fields of a response command.
    private func answer(
        _ outcome: MatterOutcome, _ cluster: UInt32, _ command: UInt32
    ) throws(MatterControllerFault) -> TLVValue {
        guard case .invoked(let replies) = outcome, let reply = replies.first, replies.count == 1 else {
            throw .invalid("no answer to a command")
        }
        switch reply {
        case .status(_, let status, _): throw .status(status.code)
        case .command(let path, let fields, _):
            guard path.cluster == cluster, path.command == command else { throw .invalid("the answer \(path)") }
            return fields
        }
    }

    private func checkError(_ outcome: MatterOutcome, _ step: String) throws(MatterControllerFault) {
        guard case .invoked(let replies) = outcome, let reply = replies.first else { throw .invalid(step) }
        switch reply {
        case .status(_, let status, _): throw .status(status.code)
        case .command(_, let fields, _):
            guard let code = fields[0]?.asUnsigned else { throw .invalid(step) }
            guard code == 0 else { throw .refused(step: step, code: code) }
        }
    }

    /// Returns the signed elements of an answer of the Operational Credentials cluster, after a check of the device's
    /// signature with its attestation key (Matter 6.2.3, 6.4.6.1).
    private func attested(
        _ outcome: MatterOutcome, _ command: UInt32, _ state: Commissioning
    ) throws(MatterControllerFault) -> TLVValue {
        let reply = try answer(outcome, 0x3E, command)
        guard let elements = reply[0]?.asBytes, let signature = reply[1]?.asBytes,
            let session = sessions.last(where: { $0.kind == .commissioning }),
            let key = try? P256.Signing.PublicKey(x963Representation: state.attestationKey),
            let proof = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(proof, for: elements + session.attestationChallenge),
            let parsed = try? TLVElement(decoding: elements)
        else { throw .invalid("the signature of the device's attestation key") }
        return parsed.value
    }

    private func isValid(_ signature: [UInt8], of content: [UInt8], by key: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: key),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: content)
    }
}
