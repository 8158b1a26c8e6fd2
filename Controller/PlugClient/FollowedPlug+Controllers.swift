public import PlugModel
import PlugProtocol
public import PlugTransport

/// Manages the plug's paired controllers and invitations, its setup code, HomeKit, Matter, updates, Wi-Fi and the
/// factory reset. The plug must be connected. Functions with an optional result return nil if the plug is not connected or the connection ends
/// before the plug answers.
extension FollowedPlug {
    /// Returns the controllers that are paired with the plug.
    ///
    /// - Throws: `Refusal` if the role of this controller does not allow the request.
    public func controllers() async throws(Refusal) -> [PairedControllerEntry]? {
        try await answer(to: .listControllers) { $0.controllers }
    }

    /// Removes a controller from the plug, which ends the controller's sessions. If a controller removes itself, the
    /// plug ends the connection without an answer.
    ///
    /// - Parameter fingerprint: The fingerprint of the controller's key.
    /// - Throws: `Refusal` if the role of this controller does not allow the request, or if the controller to
    ///   remove is the last owner.
    /// - Returns: The remaining controllers.
    public func removeController(fingerprint: String) async throws(Refusal) -> [PairedControllerEntry]? {
        try await answer(to: .removeController(fingerprint: fingerprint)) { $0.controllers }
    }

    /// Ends the pairing: removes this controller from the plug, and then the plug from the list of paired plugs.
    ///
    /// - Parameters:
    ///   - own: The key of this controller.
    ///   - paired: The list of paired plugs.
    /// - Throws: `Refusal` if the plug refused, such as for its last owner, or is not connected; it then stays paired.
    ///   ``PairedPlugsError``, or `CancellationError`.
    public func unpair(_ own: PublicKey, from paired: PairedPlugs) async throws {
        guard let id, machine.isConnected else { throw Refusal(.deadlinePassed, "the plug is not connected") }
        _ = try await removeController(fingerprint: own.fingerprint)
        try await paired.remove(id)
    }

    /// Changes the role of a controller.
    ///
    /// - Throws: See ``removeController(fingerprint:)``.
    /// - Returns: All paired controllers.
    public func setRole(of fingerprint: String, to grant: Grant) async throws(Refusal) -> [PairedControllerEntry]? {
        try await answer(to: .setRole(fingerprint: fingerprint, grant)) { $0.controllers }
    }

    /// Allows one other controller to pair.
    ///
    /// - Parameters:
    ///   - code: A setup code that was generated for this invitation.
    ///   - grant: The rights of the new controller.
    /// - Throws: `Refusal`.
    /// - Returns: The duration for which the invitation is valid.
    public func invite(with code: SetupCode, as grant: Grant) async throws(Refusal) -> Duration? {
        try await answer(to: .invite(code, grant)) { if case .invited(let time) = $0 { time } else { nil } }
    }

    /// Replaces the plug's setup code. The previous code is then invalid.
    ///
    /// - Parameter code: A new code that was generated for this plug.
    /// - Throws: `Refusal`; the previous code then stays valid.
    /// - Returns: True once the plug has stored the code on flash. Nil if the connection ended before the plug
    ///   answered, so either code may be valid.
    public func changeCode(to code: SetupCode) async throws(Refusal) -> Bool? {
        try await answer(to: .newCode(code)) { $0 == .codeChanged ? true : nil }
    }

    /// Lists the plug's HomeKit pairings or removes some pairings.
    ///
    /// - Throws: `Refusal` if HomeKit is disabled at the plug, or if this controller is not an owner.
    /// - Returns: The state after the request was executed and stored on flash.
    public func manageHomeKit(_ order: HomeKitRequest) async throws(Refusal) -> HomeKitReport? {
        try await answer(to: .manageHomeKit(order)) { if case .homeKit(let status) = $0 { status } else { nil } }
    }

    /// Lists the plug's Matter fabrics, removes one fabric or all fabrics, or opens the commissioning window.
    ///
    /// - Throws: `Refusal` if Matter is disabled at the plug, or if this controller is not an owner.
    /// - Returns: The state after the request was executed and stored on flash.
    public func manageMatter(_ order: MatterRequest) async throws(Refusal) -> MatterReport? {
        try await answer(to: .manageMatter(order)) { if case .matter(let status) = $0 { status } else { nil } }
    }

    /// Sends a new system to the plug in parts, restarts the plug, or reports the state of the update.
    ///
    /// - Throws: `Refusal` if the plug's system cannot be updated over the network, if the request does not fit the
    ///   state of the update, or if this controller is not an owner.
    /// - Returns: The state after the request was executed. A part is then written, but may be lost in a power cut.
    public func manageUpdate(_ order: UpdateRequest) async throws(Refusal) -> UpdateReport? {
        if case .update(let report) = try await answerInTurn(to: .manageUpdate(order)) { report } else { nil }
    }

    /// Changes the networks that the plug joins, opens its own one, or reports the state.
    ///
    /// - Throws: `Refusal` if the plug does not join networks, if the request does not fit the state, or if this
    ///   controller is not an owner.
    /// - Returns: The state. A network is tried after this answer.
    public func manageWiFi(_ order: WiFiRequest) async throws(Refusal) -> WiFiReport? {
        if case .wiFi(let report) = try await answerInTurn(to: .manageWiFi(order)) { report } else { nil }
    }

    /// Returns the open invitations. A used, expired or revoked invitation is not listed.
    ///
    /// - Throws: `Refusal` if the role of this controller does not allow the request.
    public func invitations() async throws(Refusal) -> [OpenInvitation]? {
        try await answer(to: .listInvitations) { $0.invitations }
    }

    /// Ends an invitation. A number that is not listed has no effect.
    ///
    /// - Throws: See ``invitations()``.
    /// - Returns: The remaining invitations.
    public func revokeInvitation(_ number: UInt32) async throws(Refusal) -> [OpenInvitation]? {
        try await answer(to: .revokeInvitation(number)) { $0.invitations }
    }

    /// Announces the key that this controller will use. The plug then accepts both keys until the first session with
    /// the new key.
    ///
    /// - Parameters:
    ///   - next: The new key. Its signature proves that this controller holds it.
    ///   - own: The key of the current session.
    ///   - plug: The description that the plug sent at the beginning of the session.
    /// - Throws: `Refusal` if another controller has that key, if a different key was announced for this controller, or
    ///   if the announcement cannot be signed.
    /// - Returns: True once the plug has stored the key on flash; nil if the connection ended before the plug answered.
    public func announceKey(
        _ next: TransportIdentity, own: PublicKey, to plug: PlugDescription
    ) async throws(Refusal) -> Bool? {
        let announcement = KeyAnnouncement(plug: plug.id, key: own, nextKey: next.publicKey, nonce: plug.nonce)
        guard let signature = try? next.signature(of: announcement.bytes) else {
            throw Refusal(.unknown, "cannot sign the announcement of the next key")
        }
        return try await answer(to: .announceKey(next.publicKey, signature: signature, pendingSignature: [])) {
            $0 == .keyAccepted ? true : nil
        }
    }

    /// Sends a request after the answer to the previous one of its kind. A plug ends the session of a controller that does
    /// not wait.
    private func answerInTurn(to request: ControllerRequest) async throws(Refusal) -> ControllerAnswer? {
        let previous = lastInTurn
        let task = Task { () async -> Result<ControllerAnswer?, Refusal> in
            _ = await previous?.value
            do throws(Refusal) {
                return .success(try await answer(to: request) { $0 })
            } catch {
                return .failure(error)
            }
        }
        lastInTurn = task
        return try await task.value.get()
    }

    /// Sends a request and waits for its answer. Returns nil if the answer is missing, or if `result` returns nil.
    private func answer<Value>(
        to request: ControllerRequest, _ result: (ControllerAnswer) -> Value?
    ) async throws(Refusal) -> Value? {
        guard machine.isConnected else { return nil }
        let answer = await withCheckedContinuation { continuation in
            questions.append(continuation)
            handle(.request(request))
        }
        if case .refused(_, let refusal) = answer { throw refusal }
        return answer.flatMap(result)
    }

    /// Resets the plug to factory state. The plug must be connected.
    ///
    /// - Throws: `Refusal` if the role of this controller does not allow the request.
    /// - Returns: `Disconnection.factoryReset` if the reset succeeded; otherwise the reason why the connection ended or
    ///   does not exist.
    public func factoryReset() async throws(Refusal) -> Disconnection {
        guard machine.isConnected else { return .away("the plug is not connected") }
        let result = await withCheckedContinuation { continuation in
            resets.append(continuation)
            handle(.request(.factoryReset))
        }
        return try result.get()
    }

    /// Completes all waiting resets when the connection ends.
    func answerResets(_ answer: Disconnection) {
        for reset in resets { reset.resume(returning: .success(answer)) }
        resets = []
    }

    /// Passes an answer to the waiting request, which is the oldest one, because a plug answers requests in the order
    /// in which it received them. The answers to resets and to requests for the audit log are passed to `resets` and
    /// `auditQuestion` instead.
    func answered(_ answer: ControllerAnswer) {
        switch answer {
        case .refused("factory_reset", let refusal):
            for reset in resets { reset.resume(returning: .failure(refusal)) }
            resets = []
        case .refused("fetch_audit", let refusal): answerAudit(.failure(refusal))
        case .audit(let page): answerAudit(page)
        case .controllers, .invited, .invitations, .codeChanged, .homeKit, .matter, .update, .wiFi,
            .keyAccepted, .refused:
            guard !questions.isEmpty else { return }
            questions.removeFirst().resume(returning: answer)
        }
    }

    /// Completes all waiting requests with nil when the connection ends.
    func endQuestions() {
        for question in questions { question.resume(returning: nil) }
        questions = []
    }
}

extension ControllerAnswer {
    fileprivate var controllers: [PairedControllerEntry]? {
        if case .controllers(let list) = self { list } else { nil }
    }
    fileprivate var invitations: [OpenInvitation]? { if case .invitations(let list) = self { list } else { nil } }
}
