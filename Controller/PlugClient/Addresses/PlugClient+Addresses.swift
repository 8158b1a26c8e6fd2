import LinuxNetwork
import LinuxSystem
import PlugModel
import ServiceDiscovery

/// Plugs that are reached by an address that the user gave or stored.
extension PlugClient {
    private static let lookupTime = Duration.seconds(5)

    /// A paired plug and its address.
    struct AddressedPlug: Sendable {
        var entry: PairedPlugs.Entry
        var address: PlugAddress
    }

    /// Returns the paired plug with this id or, without an id, with this name, if it has a stored address or if the
    /// user gave an address; otherwise nil.
    func addressed(_ name: String, _ id: PlugID?) throws(PairedPlugsError) -> AddressedPlug? {
        let stored = try address == nil ? paired.addresses() : [:]
        guard address != nil || !stored.isEmpty else { return nil }
        let all = try paired.all()
        let names = try paired.names()
        guard let id = id ?? names.first(where: { $0.value == name })?.key,
            let entry = all.first(where: { $0.id == id }), let address = address ?? stored[id]
        else { return nil }
        return AddressedPlug(entry: entry, address: address)
    }

    /// Returns the paired plug that the name refers to, if it is reached by an address; otherwise nil.
    ///
    /// - Parameter plugs: The paired plugs with their names.
    func addressedDirectory(_ wanted: String, among plugs: [PlugID: String]) -> PlugDirectory? {
        guard case .plug(let id) = PlugNameOwner(of: wanted, among: plugs), let name = plugs[id],
            address != nil || (try? paired.addresses()[id]) != nil
        else { return nil }
        var directory = PlugDirectory(wanted: wanted)
        _ = directory.prioritize(plugs, now: BootClock.now)
        _ = directory.handle(
            .found(PlugAddress.identity(of: name), txt: TXTRecord(plug: id)), now: BootClock.now)
        return directory
    }

    /// Returns the place of the plug at an address.
    ///
    /// - Parameter id: The plug that must be there; nil before the pairing.
    /// - Throws: `HostLookupError`.
    func place(_ name: String, _ id: PlugID?, at address: PlugAddress) async throws -> ResolvedService {
        let found = try await HostLookup.addresses(of: address.host, within: Self.lookupTime, on: eventLoop)
        return ResolvedService(
            identity: PlugAddress.identity(of: name), hostName: address.host, port: address.port, addresses: found,
            txt: id.map { TXTRecord(plug: $0) })
    }
}

extension ResolvedService {
    /// Returns the same place with a different identity.
    func with(_ identity: ServiceIdentity) -> ResolvedService {
        var service = self
        service.identity = identity
        return service
    }
}

/// No paired plug has the name, so an address cannot be used for it.
struct AddressOfUnpairedPlug: Error, CustomStringConvertible {
    let name: String
    let address: PlugAddress

    /// The message for the user, with a hint.
    var description: String {
        """
        no plug is paired as "\(name)", and only a paired plug is used at an address
        hint: run plugctl pair "\(name)" --address \(address) with the code on its label
        """
    }
}
