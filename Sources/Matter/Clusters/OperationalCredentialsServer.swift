import Crypto
import MatterSessions
import MatterWire

/// Operational Credentials (Matter 11.18).
struct OperationalCredentialsServer: ClusterServer {
    /// NodeOperationalCertStatusEnum (Matter 11.18.4.2).
    private enum Code: UInt8 {
        case ok = 0
        case invalidPublicKey = 1
        case invalidNOC = 3
        case missingCSR = 4
        case tableFull = 5
        case invalidAdminSubject = 6
        case fabricConflict = 9
        case labelConflict = 10
        case invalidFabricIndex = 11
    }

    /// The length limit of a certificate in bytes.
    private static let certificateLimit = 400
    private static let nonceLength = 32

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        let fabrics = state.records.fabrics
        return switch try known(attribute, OperationalCredentials.Attribute.self, or: .unsupportedAttribute) {
        case .nocs:
            call.scoped(
                fabrics.map { fabric in
                    (
                        fabric: fabric.index,
                        sensitive: [
                            (1, .bytes(fabric.credentials.operational)),
                            (2, fabric.credentials.intermediate.map { .bytes($0) } ?? .null),
                        ], open: []
                    )
                })
        case .fabrics:
            call.scoped(
                fabrics.map { fabric in
                    (
                        fabric: fabric.index, sensitive: [],
                        open: [
                            (1, .bytes(fabric.credentials.rootPublicKey)), (2, .number(fabric.vendor)),
                            (3, .number(fabric.credentials.fabricID)), (4, .number(fabric.credentials.nodeID)),
                            (5, .text(fabric.label)),
                        ]
                    )
                })
        case .supportedFabrics: .unsigned(UInt64(MatterRecords.fabricLimit))
        case .commissionedFabrics: .unsigned(UInt64(fabrics.count))
        case .trustedRootCertificates:
            .array((fabrics.map(\.credentials.root) + (state.failSafe.root.map { [$0] } ?? [])).map { .bytes($0) })
        case .currentFabricIndex: .number(call.fabric ?? 0)
        }
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        switch try known(command, OperationalCredentials.Command.self, or: .unsupportedCommand) {
        case .attestationRequest: try attest(fields, call, state)
        case .certificateChainRequest: try certificate(fields, state)
        case .csrRequest: try requestSigning(fields, call, &state)
        case .addNOC: try addNOC(fields, call, &state)
        case .updateNOC: try updateNOC(fields, call, &state)
        case .updateFabricLabel: try updateLabel(fields, call, &state)
        case .removeFabric: try remove(fields, call, &state)
        case .addTrustedRootCertificate: try addRoot(fields, call, &state)
        }
    }

    private static func reply(_ code: Code, fabric: UInt8? = nil) -> CommandReply {
        .response(
            OperationalCredentials.Response.noc,
            .fields((0, .number(code.rawValue)), (1, fabric.map { .number($0) })))
    }

    // MARK: Attestation

    /// AttestationRequest (Matter 11.18.6.1).
    private func attest(
        _ fields: TLVValue, _ call: Call, _ state: NodeState
    ) throws(InteractionStatus) -> CommandReply {
        // The node has no wall clock, so the timestamp is 0.
        let elements = TLVValue.fields(
            (1, .bytes(state.configuration.attestation.declaration)), (2, .bytes(try nonce(fields))), (3, .unsigned(0)))
        return try signed(elements.encoded, OperationalCredentials.Response.attestation, call, state)
    }

    /// CertificateChainRequest (Matter 11.18.6.3).
    private func certificate(_ fields: TLVValue, _ state: NodeState) throws(InteractionStatus) -> CommandReply {
        let credentials = state.configuration.attestation
        let certificates: [UInt8: [UInt8]] = [1: credentials.dac, 2: credentials.pai]
        guard let certificate = certificates[try fields.field(0, UInt8.self)] else {
            throw InteractionStatus(.invalidCommand)
        }
        return .response(OperationalCredentials.Response.certificateChain, .fields((0, .bytes(certificate))))
    }

    private func nonce(_ fields: TLVValue) throws(InteractionStatus) -> [UInt8] {
        guard let nonce = fields[0]?.asBytes, nonce.count == Self.nonceLength else {
            throw InteractionStatus(.invalidCommand)
        }
        return nonce
    }

    /// A response with elements and their signature by the attestation key, which includes the session's challenge
    /// (Matter 6.2.3).
    private func signed(
        _ elements: [UInt8], _ response: UInt32, _ call: Call, _ state: NodeState
    ) throws(InteractionStatus) -> CommandReply {
        guard
            let key = try? P256.Signing.PrivateKey(rawRepresentation: state.configuration.attestation.key),
            let signature = try? key.signature(for: elements + call.accessor.attestationChallenge)
        else { throw InteractionStatus(.failure) }
        return .response(
            response, .fields((0, .bytes(elements)), (1, .bytes(Array(signature.rawRepresentation)))))
    }

    /// CSRRequest (Matter 11.18.6.5).
    private func requestSigning(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let nonce = try nonce(fields)
        let isForUpdate = fields[1]?.asBoolean ?? false
        try requireFailSafe(call, state)
        guard !isForUpdate || call.node != nil else { throw InteractionStatus(.invalidCommand) }
        guard state.failSafe.change == nil else { throw InteractionStatus(.constraintError) }
        let key = state.randomness.signingKey()
        guard let request = try? SigningRequest.encode(key: key) else { throw InteractionStatus(.failure) }
        let elements = TLVValue.fields((1, .bytes(request)), (2, .bytes(nonce))).encoded
        let reply = try signed(elements, OperationalCredentials.Response.csr, call, state)
        state.failSafe.add(key, isForUpdate: isForUpdate)
        return reply
    }

    // MARK: Certificates

    /// Throws if the fail-safe is not armed, or armed by a different fabric.
    private func requireFailSafe(_ call: Call, _ state: NodeState) throws(InteractionStatus) {
        guard state.failSafe.isArmed, state.failSafe.fabric == call.fabric else {
            throw InteractionStatus(.failsafeRequired)
        }
    }

    /// AddTrustedRootCertificate (Matter 11.18.6.13).
    private func addRoot(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let root = try fields.bytesField(0, 1...Self.certificateLimit)
        try requireFailSafe(call, state)
        guard state.failSafe.change == nil, state.failSafe.root == nil else {
            throw InteractionStatus(.constraintError)
        }
        do { try CertificateChain.verify(root: try MatterCertificate(decoding: root)) } catch {
            throw InteractionStatus(.invalidCommand)
        }
        state.failSafe.add(root: root)
        state.changed(OperationalCredentials.Attribute.trustedRootCertificates, of: .operationalCredentials)
        return .status(.success)
    }

    /// The credentials of a command with NOCValue and ICACValue, or the code that rejects them.
    private func credentials(
        _ fields: TLVValue, root: [UInt8], key: P256.Signing.PrivateKey
    ) throws(InteractionStatus) -> Result<FabricCredentials, NOCError> {
        let operational = try fields.bytesField(0, 1...Self.certificateLimit)
        let intermediate: [UInt8]? =
            fields[1].map(\.isNull) ?? true ? nil : try fields.bytesField(1, 1...Self.certificateLimit)
        guard let certificate = try? MatterCertificate(decoding: operational) else {
            return .failure(NOCError(code: .invalidNOC))
        }
        guard certificate.publicKey == Array(key.publicKey.x963Representation) else {
            return .failure(NOCError(code: .invalidPublicKey))
        }
        do {
            return .success(
                try FabricCredentials(
                    root: root, operational: operational, intermediate: intermediate,
                    key: Array(key.rawRepresentation)))
        } catch {
            return .failure(NOCError(code: .invalidNOC))
        }
    }

    private struct NOCError: Error { let code: Code }

    /// AddNOC (Matter 11.18.6.8).
    private func addNOC(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let protectionKey = try fields.bytesField(2, EpochKey.length...EpochKey.length)
        let administrator = try fields.field(3, UInt64.self)
        let vendor = try fields.field(4, UInt16.self, in: 1...0xFFF4)
        try requireFailSafe(call, state)
        guard state.failSafe.change == nil else { throw InteractionStatus(.constraintError) }
        guard let pending = state.failSafe.key else { return Self.reply(.missingCSR) }
        guard !pending.isForUpdate else { throw InteractionStatus(.constraintError) }
        guard let root = state.failSafe.root else { return Self.reply(.invalidNOC) }
        guard SubjectID.isCASESubject(administrator) else { return Self.reply(.invalidAdminSubject) }
        let credentials: FabricCredentials
        switch try self.credentials(fields, root: root, key: pending.key) {
        case .success(let verified): credentials = verified
        case .failure(let error): return Self.reply(error.code)
        }
        guard
            !state.records.fabrics.contains(where: {
                $0.credentials.rootPublicKey == credentials.rootPublicKey
                    && $0.credentials.fabricID == credentials.fabricID
            })
        else { return Self.reply(.fabricConflict) }
        guard let index = state.records.nextFabricIndex else { return Self.reply(.tableFull) }
        let entry = AccessControlEntry(administrator: administrator)
        let fabric = Fabric(
            index: index, credentials: credentials, vendor: vendor, accessControl: [entry],
            keySets: [GroupKeySet(identityProtectionKey: protectionKey)])
        state.records.add(fabric)
        state.failSafe.record(.added(index))
        state.recordEntryChange(.added, entry, fabric: index, call)
        state.fabricsChanged()
        state.changed(OperationalCredentials.Attribute.currentFabricIndex, of: .operationalCredentials)
        state.effects.add(.announce)
        state.effects.add(.notice(.fabricAdded(fabric.summary)))
        return Self.reply(.ok, fabric: index)
    }

    /// UpdateNOC (Matter 11.18.6.9).
    private func updateNOC(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let fabric = try state.fabric(of: call)
        guard call.node != nil else { throw InteractionStatus(.invalidCommand) }
        try requireFailSafe(call, state)
        guard state.failSafe.change == nil, state.failSafe.root == nil else {
            throw InteractionStatus(.constraintError)
        }
        guard let pending = state.failSafe.key else { return Self.reply(.missingCSR) }
        guard pending.isForUpdate else { throw InteractionStatus(.constraintError) }
        let previous = fabric.credentials
        switch try credentials(fields, root: previous.root, key: pending.key) {
        case .success(let credentials):
            guard credentials.fabricID == previous.fabricID else { return Self.reply(.invalidNOC) }
            state.records.restore(credentials, of: fabric.index)
        case .failure(let error): return Self.reply(error.code)
        }
        state.failSafe.record(.updated(fabric.index, previous: previous))
        state.credentialsChanged(of: fabric.index, except: call.accessor.session)
        if let updated = state.records.fabric(fabric.index) {
            state.effects.add(.notice(.fabricUpdated(updated.summary)))
        }
        return Self.reply(.ok, fabric: fabric.index)
    }

    // MARK: Fabrics

    /// UpdateFabricLabel (Matter 11.18.6.11).
    private func updateLabel(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let label = try fields.textField(0, limit: Fabric.labelLimit)
        let fabric = try state.fabric(of: call)
        guard label.isEmpty || !state.records.fabrics.contains(where: { $0.index != fabric.index && $0.label == label })
        else { return Self.reply(.labelConflict, fabric: fabric.index) }
        try state.update(call) { fabric throws(InteractionStatus) in fabric.label = label }
        state.changed(OperationalCredentials.Attribute.fabrics, of: .operationalCredentials)
        return Self.reply(.ok, fabric: fabric.index)
    }

    /// RemoveFabric (Matter 11.18.6.12).
    private func remove(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let index = try fields.field(0, UInt8.self, in: 1...254)
        let session = call.node != nil && call.fabric == index ? call.accessor.session : nil
        guard state.removeFabric(index, except: session, now: call.now) != nil else {
            return Self.reply(.invalidFabricIndex)
        }
        return Self.reply(.ok, fabric: index)
    }
}
