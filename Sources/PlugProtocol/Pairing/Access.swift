public import PlugModel
public import ProtocolCore

extension PlugServer {
    /// The access state of a plug: its key, its setup code, the paired controllers and the pairing window.
    public struct Access: Sendable {
        /// The plug's current key, which its certificate contains.
        public internal(set) var key: PublicKey
        /// The announced next key, or nil if none is announced. It replaces ``key`` when no controller delays the
        /// rotation. See ``PairedControllers/delaying(_:announcedFor:)``.
        public internal(set) var nextKey: PublicKey?
        /// The setup code, or nil if it is lost. Without a code no controller can pair until the plug has a new one.
        public internal(set) var code: SetupCode?
        /// The paired controllers.
        public internal(set) var controllers: PairedControllers
        /// True if the list of controllers was lost. Such a plug does not open its window on its own, although the list
        /// is empty.
        private let isListLost: Bool
        var gate = PairingGate()
        var invitations = Invitations()
        var times = AccessExpiry()

        /// Creates the state when the firmware starts.
        ///
        /// - Parameter controllers: the paired controllers, or nil if the list is lost. Then the plug accepts no
        ///   controller until a person holds its button and pairs one.
        public init(key: PublicKey, code: SetupCode?, controllers: PairedControllers?) {
            self.key = key
            self.code = code
            self.controllers = controllers ?? PairedControllers()
            isListLost = controllers == nil
        }

        func knows(_ key: PublicKey) -> Bool { controllers[key] != nil }

        /// Returns true while a controller can pair with the plug's own setup code.
        public func isOpen(at now: Instant) -> Bool { gate.isOpen(at: now) }

        /// Returns true while the plug accepts proofs of its setup code or of an invitation.
        func takesProofs(at now: Instant) -> Bool { gate.isOpen(at: now) || !invitations.isEmpty(at: now) }

        /// Returns the code that a proof matches and the role that it grants, or nil. The plug's own code grants
        /// ownership, because only the holder of the plug can read its label and open the window.
        func grant(at now: Instant, _ fits: (SetupCode) -> Bool) -> (code: SetupCode, grant: Grant)? {
            if let code, gate.isOpen(at: now), fits(code) { return (code, .owner) }
            return invitations.grant(at: now, fits)
        }

        /// Opens the window because a person holds the plug's button.
        mutating func openAtPlug(now: Instant) {
            // Without a code the window would have no use.
            if code != nil { gate.buttonHeld(now: now) }
        }

        /// Opens the window when the firmware of a plug without controllers starts, unless the list of controllers was
        /// lost.
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
