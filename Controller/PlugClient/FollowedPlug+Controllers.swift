public import PlugModel
import PlugProtocol
public import PlugTransport

/// Who is paired with the plug that is followed, and the reset that makes it forget them. Each is to be asked while the plug is
/// connected; nil: its connection ended before it answered.
extension FollowedPlug {
    enum Answer {
        case controllers([PairedControllerEntry])
        case invited(for: Duration)
        case invitations([OpenInvitation])
        case codeChanged
        case homeKit(HomeKitReport)
        case keyAccepted
        case refused(Refusal)
    }

    /// Who is paired with the plug.
    ///
    /// - Throws: `Refusal` where the role of this controller does not allow it.
    public func controllers() async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.listControllers)
    }

    /// Has the plug forget the controller of this key and end its sessions. A controller that removes itself gets no answer but
    /// the end.
    ///
    /// - Throws: `Refusal` where the role of this controller does not allow it, and for the last owner.
    /// - Returns: those who remain.
    public func removeController(fingerprint: String) async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.removeController(fingerprint: fingerprint))
    }

    /// Gives the controller of this key another role.
    ///
    /// - Throws: as ``removeController(fingerprint:)``.
    /// - Returns: all controllers.
    public func setRole(of fingerprint: String, to grant: Grant) async throws(Refusal) -> [PairedControllerEntry]? {
        try await list(.setRole(fingerprint: fingerprint, grant))
    }

    /// Lets somebody else pair, once.
    ///
    /// - Parameter code: drawn for this invitation.
    /// - Throws: `Refusal`.
    /// - Returns: for how long.
    public func invite(with code: SetupCode, as grant: Grant) async throws(Refusal) -> Duration? {
        switch await answer(to: .invite(code, grant)) {
        case .invited(let time): return time
        case .refused(let refusal): throw refusal
        case .controllers, .invitations, .codeChanged, .homeKit, .keyAccepted, nil: return nil
        }
    }

    /// Gives the plug another setup code; the one before is dead then.
    ///
    /// - Parameter code: drawn for this plug.
    /// - Throws: `Refusal`; the code before stays.
    /// - Returns: true: no loss of power undoes it. Nil: the connection ended before the plug answered, so either code may hold.
    public func changeCode(to code: SetupCode) async throws(Refusal) -> Bool? {
        switch await answer(to: .newCode(code)) {
        case .codeChanged: return true
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .invitations, .homeKit, .keyAccepted, nil: return nil
        }
    }

    /// The plug's HomeKit door, after what is ordered was done: flash has it then.
    ///
    /// - Throws: `Refusal` where HomeKit is off at the plug, or this controller is no owner.
    public func manageHomeKit(_ order: HomeKitOrder) async throws(Refusal) -> HomeKitReport? {
        switch await answer(to: .manageHomeKit(order)) {
        case .homeKit(let status): return status
        case .refused(let refusal): throw refusal
        case .controllers, .invited, .invitations, .codeChanged, .keyAccepted, nil: return nil
        }
    }

    /// The invitations that have been neither used nor ended.
    ///
    /// - Throws: `Refusal` where the role of this controller does not allow it.
    public func invitations() async throws(Refusal) -> [OpenInvitation]? { try await invitations(.listInvitations) }

    /// Ends an invitation. A number that is not listed changes nothing.
    ///
    /// - Throws: as ``invitations()``.
    /// - Returns: those that remain.
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

    /// Announces the key that this controller will use. From then on the plug accepts either key, until the first session with the new
    /// one.
    ///
    /// - Parameters:
    ///   - next: proves with a signature that this controller holds the new key.
    ///   - own: the key that the session uses.
    ///   - plug: what the plug said when the session began.
    /// - Throws: `Refusal` if another controller has that key, or somebody else announced another key for this controller.
    /// - Returns: true once no loss of power undoes it; nil if the connection ended before the plug answered.
    public func announceKey(
        _ next: TransportIdentity, own: PublicKey, to plug: PlugDescription
    ) async throws(Refusal) -> Bool? {
        let announcement = KeyAnnouncement(plug: plug.id, key: own, nextKey: next.publicKey, nonce: plug.nonce)
        guard let signature = try? next.signature(of: announcement.bytes) else {
            throw Refusal(.unknown, "the announcement of the next key could not be signed")
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

    private func answer(to question: PlugFollower.Event) async -> Answer? {
        guard machine.isConnected else { return nil }
        return await withCheckedContinuation { continuation in
            questions.append(continuation)
            handle(question)
        }
    }

    /// Has the plug set itself back to factory state. To be asked while it is connected.
    ///
    /// - Throws: `Refusal` where the role of this controller does not allow it.
    /// - Returns: how the connection ended: `Disconnection.factoryReset` when it is done.
    public func factoryReset() async throws(Refusal) -> Disconnection {
        guard machine.isConnected else { return .away("the plug is not connected") }
        let result = await withCheckedContinuation { continuation in
            resets.append(continuation)
            handle(.factoryReset)
        }
        return try result.get()
    }

    func answerResets(_ answer: Disconnection) {
        for reset in resets { reset.resume(returning: .success(answer)) }
        resets = []
    }

    /// A plug answers in the order in which it was asked.
    func answerQuestion(_ answer: Answer) {
        guard !questions.isEmpty else { return }
        questions.removeFirst().resume(returning: answer)
    }

    func refused(_ request: String, _ refusal: Refusal) {
        switch request {
        case "factory_reset":
            for reset in resets { reset.resume(returning: .failure(refusal)) }
            resets = []
        case "fetch_audit": answerAudit(.failure(refusal))
        case _: answerQuestion(.refused(refusal))
        }
    }

    func endQuestions() {
        for question in questions { question.resume(returning: nil) }
        questions = []
    }
}
