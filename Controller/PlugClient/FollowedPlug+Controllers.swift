public import PlugModel
import PlugProtocol
public import PlugTransport

/// Manages the plug's paired controllers and invitations, its setup code, HomeKit and the factory reset. The plug must
/// be connected. Functions with an optional result return nil if the plug is not connected or the connection ends
/// before the plug answers.
extension FollowedPlug {
    /// The plug's answer to a request.
    enum Answer {
        case controllers([PairedControllerEntry])
        case invited(for: Duration)
        case invitations([OpenInvitation])
        case codeChanged
        case homeKit(HomeKitReport)
        case keyAccepted
        case refused(Refusal)
    }

    /// Returns the controllers that are paired with the plug.
    ///
    /// - Throws: `Refusal` if the role of this controller does not allow the request.
    public func controllers() async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.listControllers)
    }

    /// Removes a controller from the plug, which ends the controller's sessions. If a controller removes itself, the
    /// plug ends the connection without an answer.
    ///
    /// - Parameter fingerprint: The fingerprint of the controller's key.
    /// - Throws: `Refusal` if the role of this controller does not allow the request, or if the controller to
    ///   remove is the last owner.
    /// - Returns: The remaining controllers.
    public func removeController(fingerprint: String) async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.removeController(fingerprint: fingerprint))
    }

    /// Changes the role of a controller.
    ///
    /// - Throws: See ``removeController(fingerprint:)``.
    /// - Returns: All paired controllers.
    public func setRole(of fingerprint: String, to grant: Grant) async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.setRole(fingerprint: fingerprint, grant))
    }

    /// Allows one other controller to pair.
    ///
    /// - Parameters:
    ///   - code: A setup code that was generated for this invitation.
    ///   - grant: The rights of the new controller.
    /// - Throws: `Refusal`.
    /// - Returns: The duration for which the invitation is valid.
    public func invite(with code: SetupCode, as grant: Grant) async throws(Refusal) -> Duration? {
        switch await answer(to: .invite(code, grant)) {
        case .invited(let time): return time
        case .refused(let refusal): throw refusal
        case .controllers, .invitations, .codeChanged, .homeKit, .keyAccepted, nil: return nil
        }
    }

    /// Replaces the plug's setup code. The previous code is then invalid.
    ///
    /// - Parameter code: A new code that was generated for this plug.
    /// - Throws: `Refusal`; the previous code then stays valid.
    /// - Returns: True once the plug has stored the code on flash. Nil if the connection ended before the plug
    ///   answered, so either code may be valid.
    public func changeCode(to code: SetupCode) async throws(Refusal) -> Bool? {
        switch await answer(to: .newCode(code)) {
        case .codeChanged: return true
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .invitations, .homeKit, .keyAccepted, nil: return nil
        }
    }

    /// Lists the plug's HomeKit pairings or removes some pairings.
    ///
    /// - Throws: `Refusal` if HomeKit is disabled at the plug, or if this controller is not an owner.
    /// - Returns: The state after the request was executed and stored on flash.
    public func manageHomeKit(_ order: HomeKitRequest) async throws(Refusal) -> HomeKitReport? {
        switch await answer(to: .manageHomeKit(order)) {
        case .homeKit(let status): return status
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .invitations, .codeChanged, .keyAccepted, nil: return nil
        }
    }

    /// Returns the open invitations. A used, expired or revoked invitation is not listed.
    ///
    /// - Throws: `Refusal` if the role of this controller does not allow the request.
    public func invitations() async throws(Refusal) -> [OpenInvitation]? { try await invitations(.listInvitations) }

    /// Ends an invitation. A number that is not listed has no effect.
    ///
    /// - Throws: See ``invitations()``.
    /// - Returns: The remaining invitations.
    public func revokeInvitation(_ number: UInt32) async throws(Refusal) -> [OpenInvitation]? {
        try await invitations(.revokeInvitation(number))
    }

    private func invitations(_ question: PlugFollower.Event) async throws(Refusal) -> [OpenInvitation]? {
        switch await answer(to: question) {
        case .invitations(let list): return list
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .codeChanged, .homeKit, .keyAccepted, nil: return nil
        }
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
        switch await answer(to: .announceKey(next.publicKey, signature: signature, pendingSignature: [])) {
        case .keyAccepted: return true
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .invitations, .codeChanged, .homeKit, nil: return nil
        }
    }

    private func list(_ question: PlugFollower.Event) async throws(Refusal) -> [PairedControllerEntry]? {
        switch await answer(to: question) {
        case .controllers(let list): return list
        case .refused(let refusal): throw refusal
        case .invited, .invitations, .codeChanged, .homeKit, .keyAccepted, nil: return nil
        }
    }

    /// Sends a request and waits for its answer.
    private func answer(to question: PlugFollower.Event) async -> Answer? {
        guard machine.isConnected else { return nil }
        return await withCheckedContinuation { continuation in
            questions.append(continuation)
            handle(question)
        }
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
            handle(.factoryReset)
        }
        return try result.get()
    }

    /// Completes all waiting resets when the connection ends.
    func answerResets(_ answer: Disconnection) {
        for reset in resets { reset.resume(returning: .success(answer)) }
        resets = []
    }

    /// Completes the oldest request. A plug answers requests in the order in which it received them.
    func answerQuestion(_ answer: Answer) {
        guard !questions.isEmpty else { return }
        questions.removeFirst().resume(returning: answer)
    }

    /// Passes a refusal to the waiting request. `request` is the field name of the message on the wire.
    func refused(_ request: String, _ refusal: Refusal) {
        switch request {
        case "factory_reset":
            for reset in resets { reset.resume(returning: .failure(refusal)) }
            resets = []
        case "fetch_audit": answerAudit(.failure(refusal))
        case _: answerQuestion(.refused(refusal))
        }
    }

    /// Completes all waiting requests with nil when the connection ends.
    func endQuestions() {
        for question in questions { question.resume(returning: nil) }
        questions = []
    }
}
