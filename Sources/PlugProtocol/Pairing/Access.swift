public import PlugModel
public import ProtocolCore

extension PlugServer {
    /// Who is let in: the plug's own key and code, the controllers that it knows, and when it lets itself be paired.
    public struct Access: Sendable {
        /// The plug's key, which its certificate shows.
        public internal(set) var key: PublicKey
        /// The one that takes its place when every controller has stored it.
        public internal(set) var nextKey: PublicKey?
        /// Nil: it is lost, so that nobody can be paired until it gets another.
        public internal(set) var code: SetupCode?
        public internal(set) var controllers: PairedControllers
        /// A plug that lost its list is not one without controllers: it does not open its window by itself.
        private let isListLost: Bool
        var gate = PairingGate()
        var invitations = Invitations()
        var times = LimitedTimes()

        /// - Parameter controllers: nil where the list is lost. Nobody is let in then, until somebody who stands before the
        ///   plug holds its button and pairs.
        public init(key: PublicKey, code: SetupCode?, controllers: PairedControllers?) {
            self.key = key
            self.code = code
            self.controllers = controllers ?? PairedControllers()
            isListLost = controllers == nil
        }

        func knows(_ key: PublicKey) -> Bool { controllers[key] != nil }

        /// Whether somebody may prove the setup code of the plug now.
        public func isOpen(at now: Instant) -> Bool { gate.isOpen(at: now) }

        /// Whether somebody may prove any code now.
        func takesProofs(at now: Instant) -> Bool { gate.isOpen(at: now) || !invitations.isEmpty(at: now) }

        /// The code that the proof shows, and what it gives: whoever knows the plug's own and had it opened has it in his hands, and
        /// becomes an owner.
        func grant(at now: Instant, _ fits: (SetupCode) -> Bool) -> (code: SetupCode, grant: Grant)? {
            if let code, gate.isOpen(at: now), fits(code) { return (code, .owner) }
            return invitations.grant(at: now, fits)
        }

        /// Somebody who stands before the plug asks for it.
        mutating func openAtPlug(now: Instant) {
            // Without a code nobody could use it.
            if code != nil { gate.buttonHeld(now: now) }
        }

        /// What happens to a plug may open its window.
        mutating func note(_ kind: PlugEvent.Kind, now: Instant) {
            guard code != nil else { return }
            switch kind {
            case .restarted:
                if controllers.all.isEmpty, !isListLost { gate.open(for: PairingGate.factoryWindow, now: now) }
            case .relayChanged, .buttonPressed, .protectionTripped, .protectionReset, .pairingFailed,
                .controllerPaired, .controllerRemoved:
                break
            }
        }
    }
}
