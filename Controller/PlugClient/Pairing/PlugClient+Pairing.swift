import NIOCore
public import PlugModel
import PlugProtocol
import PlugTransport
import ServiceDiscovery

extension PlugClient {
    /// Gets to know the plug of that announced name, and makes itself known to it: both prove the setup code, inside the
    /// connection that this authorises. The plug's key is pinned then.
    ///
    /// - Parameter replacing: pins the plug's key also if its id is paired with a different key.
    /// - Throws: `PairingError`, `DialError`, ``PairedPlugsError``, or what ``resolve(_:within:)`` throws.
    public func pair(
        _ name: String, code: SetupCode, replacing: Bool = false, within time: Duration = .seconds(5)
    ) async throws -> PairedPlugs.Entry {
        // Before anything is asked of the plug: what cannot be kept afterwards would pair one side only.
        _ = try paired.all()
        let service = try await resolve(name, within: time)
        return try await pair(
            name, code: code, replacing: replacing, at: service.socketAddresses, claiming: service.txt?.plugID)
    }

    /// - Parameter id: the id that the plug announces. If a key is pinned for it, a plug with a different key is asked nothing.
    func pair(
        _ name: String, code: SetupCode, replacing: Bool = false, at addresses: [SocketAddress],
        claiming id: PlugID? = nil
    ) async throws -> PairedPlugs.Entry {
        let (dialer, ownKey) = dialer.current
        let attempt = PairingAttempt(PairingSession(name: self.name, code: code), ownKey: ownKey, on: eventLoop)
        if !replacing, let known = try paired.all().first(where: { $0.id == id }) {
            do throws(DialError) {
                try await dialer.connect(
                    to: addresses, expecting: known.key, or: known.nextKey, on: eventLoop, owner: attempt)
            } catch {
                guard error.showsOtherKey else { throw error }
                throw PairedPlugsError.pinned(known, claimedBy: name)
            }
        } else {
            try await dialer.connect(to: addresses, on: eventLoop, owner: attempt)
        }
        let plug = try await attempt.outcome()
        let entry = PairedPlugs.Entry(id: plug.id, key: plug.key, name: name)
        // The plug may state a different id than it announces.
        try await paired.add(entry, replacing: replacing)
        return entry
    }

    /// The plug at that place, with the key that it has to prove.
    ///
    /// - Throws: ``Distrust`` where it is not paired, ``PairedPlugsError``.
    func entry(of service: ResolvedService, named name: String) throws -> PairedPlugs.Entry {
        guard let id = service.txt?.plugID else { throw Distrust.anonymous(name: name) }
        let all = try paired.all()
        if let entry = all.first(where: { $0.id == id }) { return entry }
        throw all.contains { $0.name == name } ? Distrust.another(name: name, id: id) : Distrust.notPaired(name: name)
    }
}

/// Why nothing was said to a plug.
enum Distrust: Error, Hashable, CustomStringConvertible {
    case notPaired(name: String)
    /// A plug of this name is paired, and this is another one.
    case another(name: String, id: PlugID)
    /// Its announcement does not say which plug it is.
    case anonymous(name: String)

    var description: String {
        switch self {
        case .notPaired(let name):
            "it is not paired with this controller\nhint: plugctl pair \"\(name)\", with the code on its label"
        case .another(let name, let id):
            """
            it is not the plug of this name that was paired (its id is \(id))
            hint: if you trust it: plugctl pair "\(name)", with the code on its label
            """
        case .anonymous: "its announcement does not say which plug it is\nhint: is it a smart plug of this kind?"
        }
    }
}
