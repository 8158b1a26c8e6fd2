/// Who gives an interface its addresses (`plugd run --addressing`).
public enum AddressingMode: String, Sendable, CaseIterable {
    /// The plug does, whoever else may.
    case manage
    /// Somebody else does, and the plug uses what is there.
    case observe
    /// The plug does, unless the system's own manager has the interface, or its addresses are set by hand.
    case auto
}
