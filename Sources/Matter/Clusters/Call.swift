import MatterSessions
import MatterWire
import ProtocolCore

/// The context of a read, a write or a command.
struct Call: Sendable {
    let endpoint: UInt16
    let accessor: Accessor
    /// The accessing fabric, or nil in a PASE session before AddNOC.
    let fabric: UInt8?
    /// True if a fabric-scoped list contains only items of the accessing fabric.
    let isFabricFiltered: Bool
    let now: Instant

    init(endpoint: UInt16, accessor: Accessor, isFabricFiltered: Bool = true, now: Instant, failSafe: FailSafe) {
        (self.endpoint, self.accessor, self.isFabricFiltered, self.now) = (endpoint, accessor, isFabricFiltered, now)
        fabric =
            switch accessor.kind {
            case .operational, .group: accessor.fabric
            // A PASE session belongs to the fabric that it added.
            case .commissioning: failSafe.isForCommissioning ? accessor.fabric ?? failSafe.fabric : accessor.fabric
            }
    }

    /// The accessing fabric. Throws `unsupportedAccess` for an accessor without a fabric.
    func requiredFabric() throws(InteractionStatus) -> UInt8 {
        guard let fabric else { throw InteractionStatus(.unsupportedAccess) }
        return fabric
    }

    /// The node id of an operational accessor, or the one that the sender to a group names.
    var node: UInt64? {
        switch accessor.kind {
        case .commissioning: nil
        case .operational(let peer): peer.node
        case .group(let sender): sender.node
        }
    }

    /// The accessor for the plug's audit log, such as `1/000000000001B669`.
    var origin: String? {
        guard let node, let fabric = accessor.fabric else { return nil }
        return "\(fabric)/\(hexadecimal(node))"
    }

    /// A fabric-scoped list (Matter 7.13.6): only items of the accessing fabric if the read is filtered, and
    /// fabric-sensitive fields only for their fabric.
    func scoped(
        _ items: [(fabric: UInt8, sensitive: [(UInt8, TLVValue?)], open: [(UInt8, TLVValue?)])]
    ) -> TLVValue {
        .array(
            items.filter { !isFabricFiltered || $0.fabric == fabric }.map { item in
                let visible = item.fabric == fabric ? item.sensitive + item.open : item.open
                return .members(visible.sorted { $0.0 < $1.0 } + [(TLVValue.fabricIndexTag, .number(item.fabric))])
            })
    }
}

/// Returns a number as 16 upper-case hexadecimal digits.
func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
}

/// Returns bytes as upper-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
}
