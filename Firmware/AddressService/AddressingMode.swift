/// The mode that decides who manages an interface's addresses (`plugd run --addressing`).
public enum AddressingMode: String, Sendable, CaseIterable {
    /// The plug manages all Ethernet and Wi-Fi interfaces, even if a different program manages them too.
    case manage
    /// A different program manages the interfaces, and the plug uses the existing addresses.
    case observe
    /// The plug manages an interface unless a system program manages it or its addresses are configured by hand.
    case auto
}
