public import PlugModel

/// Who is paired with the plug that is followed, and the reset that makes it forget them.
extension FollowedPlug {
    /// Who is paired with the plug. To be asked while it is connected; nil when it did not answer before that ended.
    public func controllers() async -> [PairedControllerEntry]? {
        guard machine.isConnected else { return nil }
        return await withCheckedContinuation { continuation in
            questions.append(continuation)
            handle(.listControllers)
        }
    }

    /// Has the plug forget the controller of this key and end its sessions. Whoever removes itself gets no answer but the end.
    ///
    /// - Returns: those who remain; nil when the plug did not answer before its connection ended.
    public func removeController(fingerprint: String) async -> [PairedControllerEntry]? {
        guard machine.isConnected else { return nil }
        return await withCheckedContinuation { continuation in
            questions.append(continuation)
            handle(.removeController(fingerprint: fingerprint))
        }
    }

    /// Has the plug set itself back to factory state. To be asked while it is connected.
    ///
    /// - Returns: how the connection ended: `Disconnection.factoryReset` when it is done.
    public func factoryReset() async -> Disconnection {
        guard machine.isConnected else { return .away("the plug is not connected") }
        return await withCheckedContinuation { continuation in
            resets.append(continuation)
            handle(.factoryReset)
        }
    }

    func answerResets(_ answer: Disconnection) {
        for reset in resets { reset.resume(returning: answer) }
        resets = []
    }

    func answerQuestions(_ answer: [PairedControllerEntry]?) {
        for question in questions { question.resume(returning: answer) }
        questions = []
    }
}
