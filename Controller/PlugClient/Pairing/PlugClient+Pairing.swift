import NIOCore
public import PlugModel
import PlugProtocol
import PlugTransport
import ServiceDiscovery

extension PlugClient {
    /// Pairs with the plug of that announced name. Plug and controller prove the setup code to each other inside the
    /// TLS connection, and the controller then pins the plug's key.
    ///
    /// - Parameters:
    ///   - name: The announced name.
    ///   - code: The plug's setup code.
    ///   - replacing: Pins the plug's key also if its id is paired with a different key.
    ///   - time: The time limit for finding the plug.
    /// - Returns: The new entry of the list of paired plugs.
    /// - Throws: `PairingError`, `DialError`, ``PairedPlugsError``, or the errors of ``resolve(_:within:)``.
    public func pair(
        _ name: String, code: SetupCode, replacing: Bool = false, within time: Duration = .seconds(5)
    ) async throws -> PairedPlugs.Entry {
        // Reads the list before the plug is contacted. With an unreadable list, the plug would store the pairing and
        // the controller would not.
        _ = try paired.all()
        let service = try await resolve(name, within: time)
        return try await pair(
            name, code: code, replacing: replacing, at: service.socketAddresses, claiming: service.txt?.plugID)
    }

    /// Pairs with the plug at these addresses.
    ///
    /// - Parameter id: The id that the plug announces. If a key is pinned for the id and `replacing` is false, a plug
    ///   with a different key is not asked to pair.
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
        // `add` checks the pinned key again, because the plug may state a different id than it announces.
        try await paired.add(entry, replacing: replacing)
        return entry
    }

    /// Returns the list entry of the resolved plug, with the key that the plug has to prove.
    ///
    /// - Throws: ``PairingMismatch`` if the plug is not paired or announces no id, ``PairedPlugsError``.
    func entry(of service: ResolvedService, named name: String) throws -> PairedPlugs.Entry {
        guard let id = service.txt?.plugID else { throw PairingMismatch.anonymous(name: name) }
        let all = try paired.all()
        if let entry = all.first(where: { $0.id == id }) { return entry }
        throw all.contains { $0.name == name }
            ? PairingMismatch.another(name: name, id: id) : PairingMismatch.notPaired(name: name)
    }
}

/// The reason why the controller did not connect to a plug.
enum PairingMismatch: Error, Hashable, CustomStringConvertible {
    /// The plug is not paired.
    case notPaired(name: String)
    /// A plug of this name is paired, but it has a different id.
    case another(name: String, id: PlugID)
    /// The plug's announcement has no id.
    case anonymous(name: String)

    /// The message for the user, with a hint.
    var description: String {
        switch self {
        case .notPaired(let name):
            "the plug is not paired with this controller\nhint: run plugctl pair \"\(name)\" with the code on its label"
        case .another(let name, let id):
            """
            a different plug was paired under this name (the id of this one is \(id))
            hint: if you trust this one, run plugctl pair "\(name)" with the code on its label
            """
        case .anonymous: "its announcement has no plug id\nhint: check that it is a smart plug of this kind"
        }
    }
}
