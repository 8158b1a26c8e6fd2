import Appliance
import Foundation
import LinuxSystem
import Logging
import PlugHardware
import PlugTransport
import TestSupport
import Testing

@testable import PlugService

/// Tests of the plug's key file.
@Suite(.timeLimit(.minutes(1))) struct KeyTests {
    private let directory = TestFolder()
    private let log = CollectedLog()

    private func plug() throws -> (PlugService, SimulatedPlug) {
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        let settings = PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: ApplianceConfiguration(),
            parts: parts.parts(dimmable: false), simulated: parts)
        return (try PlugService(settings, logger: Logger(label: "test") { [log] _ in log.handler }), parts)
    }

    @Test("The first start creates the key") func theFirstStartMakesTheKey() throws {
        let (service, _) = try plug()
        let kept = try TransportIdentity.kept(in: directory.path + "/key")
        #expect(service.identity?.publicKey == kept.publicKey)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let pem = try #require(directory.text("key"))
        #expect(log.text.isEmpty && pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
    }

    @Test(
        "With an unusable key, the plug stays off the network and its button works",
        arguments: [
            (0o644, "no matter", "other users have access to it (mode 0644)"),
            (0o600, "-----BEGIN PRIVATE KEY-----\nMIGH", "it does not contain a P-256 private key in PEM"),
            (0o600, "", "the file is empty"),
        ])
    func aKeyThatCannotBeUsedKeepsItOffTheNetworkAndTheButtonWorks(mode: Int, text: String, reason: String) async throws
    {
        try directory.write(text, to: "key")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path + "/key")
        let (service, parts) = try plug()
        try await service.run {
            let panel = directory.directories
            _ = try? await PanelClient.ask(.press(.single), at: panel)
            // A status request is answered after the press has been handled.
            while !parts.isRelayOn, (try? await PanelClient.ask(.status, at: panel)) != nil {}
            #expect(parts.isRelayOn)
        }
        #expect(log.text.contains("the plug stays off the network, but its button works"))
        #expect(
            log.text.contains("\(directory.path)/key") && log.text.contains(reason) && log.text.contains("\nhint: "))
        #expect(!log.text.contains("announced"))
        #expect(directory.text("key") == text, "the unusable key file was changed")
    }

    /// The paired controllers have pinned the lost key, so a new key would be useless to them.
    @Test("A paired plug without its key stays off the network", arguments: [nil, "nonsense"])
    func aPlugThatIsPairedAndHasNoKeyStaysOffTheNetwork(list: String?) throws {
        try directory.pair(with: TransportIdentity())
        try FileManager.default.removeItem(atPath: directory.path + "/key")
        if let list { try directory.write(list, to: "controllers") }
        let before = directory.text("controllers")
        let (service, _) = try plug()
        #expect(service.identity == nil)
        #expect(
            log.text.contains(
                """
                the plug stays off the network, but its button works: the key in \(directory.path)/key is missing, but \
                existing pairings depend on it
                hint: restore the file from a backup, or remove all pairings with `plugd reset` and pair again
                """))
        #expect(directory.text("key") == nil)
        if list == nil { #expect(directory.text("controllers") == before, "the list is kept") }
    }

    @Test("After the key file is restored, the next start uses its key, and the pairings remain")
    func aKeyThatIsPutBackBringsThePlugBack() async throws {
        let identity = TransportIdentity()
        try directory.pair(with: TransportIdentity())
        try FileManager.default.removeItem(atPath: directory.path + "/key")
        let (service, _) = try plug()
        #expect(service.identity == nil)
        await service.stop()
        #expect(try identity.keep(in: directory.path + "/key"))
        let (again, _) = try plug()
        #expect(again.identity?.publicKey == identity.publicKey)
        #expect(await again.machine.access.controllers.all.count == 1)
    }

    @Test("If a new key cannot be stored, the plug uses it until plugd stops")
    func whereNoKeyCanBeKeptItHasOneUntilItStops() throws {
        // A directory blocks the path of the temporary file.
        try FileManager.default.createDirectory(
            atPath: directory.path + "/key.\(getpid())", withIntermediateDirectories: true)
        let (service, _) = try plug()
        #expect(service.identity != nil)
        #expect(directory.text("key") == nil)
        #expect(log.text.contains("the key of this plug cannot be stored and is lost when plugd stops: cannot write"))
    }

    @Test("If the key file cannot be replaced, a key rotation fails, and so does each repeated request")
    func aFailedRotationIsReported() async throws {
        let plug = try await RunningPlug()
        let key = try #require(plug.directory.text("key"))
        // A directory blocks the path of the replacement.
        try FileManager.default.createDirectory(
            atPath: plug.directory.path + "/key.new/in", withIntermediateDirectories: true)
        for now in [true, false, true] {
            let error = await #expect(throws: PanelError.self) { try await plug.ask(.rotateKey(now: now)) }
            #expect(error?.description.hasPrefix("the key was not changed") == true)
        }
        #expect(plug.directory.text("key") == key)
        await plug.stop()
    }
}
