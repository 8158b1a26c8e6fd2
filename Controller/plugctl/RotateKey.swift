import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import PlugTransport
import Presentation

struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Replace the key of this controller without pairing again.",
        discussion: """
            The command announces the next key to each plug in a session with the current key. When all plugs know the next key, it becomes the
            key of this controller, and each plug removes the previous key at the first session with the new one. If a plug is away, the
            current key stays in use; run the command again later. With --leave-absent the next key is used at once, and absent plugs have
            to be paired again. The rotation is complete when every plug has accepted a session with the new key.

            Examples:
              plugctl rotate-key
              plugctl rotate-key --leave-absent
            """)

    @OptionGroup var network: NetworkOptions
    @Flag(help: "Do not wait for plugs that are away; they have to be paired again.")
    var leaveAbsent = false
    @Flag(help: "One JSON object per plug: plug, id, knows, why; and a last one: rotated, fingerprint.")
    var json = false

    func run() async throws {
        var isRotated = false
        try await network.withClient { client in
            let own = try TransportIdentity.ofThisController().publicKey
            var rotation = try KeyRotation(own: own)
            var knowsAll = true
            for plug in try PairedPlugs().all() {
                let record = try await tell(plug, own, client, &rotation)
                knowsAll = knowsAll && record.knows
                if json { Output.json(record) } else { Output.safeLine(record.text) }
            }
            isRotated = knowsAll || leaveAbsent
            if isRotated {
                try rotation.finish()
                try await prove(rotation)
            }
            let record = KeyRotationRecord(rotated: isRotated, key: isRotated ? rotation.next.publicKey : own)
            if json { Output.json(record) } else { Output.safeLine(record.text) }
        }
        if !isRotated { throw ExitCode(2) }
    }

    private func tell(
        _ plug: PairedPlugs.Entry, _ own: PublicKey, _ client: PlugClient, _ rotation: inout KeyRotation
    ) async throws -> KeyDistributionRecord {
        if rotation.isKnown(to: plug.id) { return KeyDistributionRecord(plug, why: nil) }
        do {
            let name = try await client.find(plug.name, within: network.wait.duration)
            let followed = client.follow(name, after: nil, stateOptions: nil)
            let outcome = await Self.announce(rotation.next, own, to: followed)
            await followed.stop()
            if outcome == nil { try rotation.note(plug.id) }
            return KeyDistributionRecord(plug, why: outcome)
        } catch let absent as PlugNotFound {
            return KeyDistributionRecord(plug, why: "\(absent)")
        }
    }

    /// Opens a session with the new key to every plug that has it and is found. If an attacker with a copy of the old
    /// key announced a different key, the session fails. Throws an error that lists the plugs whose sessions failed.
    private func prove(_ rotation: KeyRotation) async throws {
        var refusing: [String] = []
        try await network.withClient(rotation.next) { client in
            for plug in try PairedPlugs().all() where rotation.isKnown(to: plug.id) {
                guard let name = try? await client.find(plug.name, within: network.wait.duration) else { continue }
                let followed = client.follow(name, after: nil, stateOptions: nil)
                if let why = await Self.refusal(of: followed) { refusing.append("\(plug.name): \(why)") }
                await followed.stop()
            }
        }
        guard refusing.isEmpty else {
            throw CLIError(
                """
                these plugs do not accept the new key although it was announced to them: \(refusing.joined(separator: "; "))
                hint: a copy of the old key may be in use elsewhere; pair these plugs again, and check plugctl audit
                """)
        }
    }

    /// Tests if the plug accepts a session with the client's key. Returns the reason why it does not, or nil.
    private static func refusal(of plug: FollowedPlug) async -> String? {
        await inSession(with: plug) { _ in nil }
    }

    /// Announces the next key to the plug. Returns the reason why the plug does not have the key, or nil if it has the
    /// key.
    private static func announce(
        _ next: TransportIdentity, _ own: PublicKey, to plug: FollowedPlug
    ) async -> String? {
        await inSession(with: plug) { description in
            do throws(Refusal) {
                let isKnown = try await plug.announceKey(next, own: own, to: description) == true
                return isKnown ? nil : "it closed the connection before it answered"
            } catch {
                return error.detail
            }
        }
    }

    /// Waits for a session with the plug and runs `body` in it, which returns nil on success. If the first connection
    /// is lost, for example because the network has changed, the second one counts.
    ///
    /// - Returns: the result of `body`, or the reason why the session is missing.
    private static func inSession(
        with plug: FollowedPlug, _ body: (PlugDescription) async -> String?
    ) async -> String? {
        var hasLost = false
        // The session ends with the loop.
        for await report in plug.reports {
            switch report.update {
            case .connected(let description): return await body(description)
            case .disconnected(.away, _) where !hasLost: hasLost = true
            case .disconnected(let reason, _): return "\(reason)"
            case .following, .snapshot, .state, .event, .gap, .log: continue
            }
        }
        return "it is away"
    }
}
