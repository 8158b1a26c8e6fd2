/// A parser or machine that handles untrusted bytes, with the invariants that hold for any input. The coverage-guided
/// fuzzer and the ordinary tests run the same check.
public struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name of the target's folder in the corpus.
    public let name: String
    /// Returns realistic inputs to start from.
    public let seeds: @Sendable () -> [[UInt8]]
    /// Runs one input. Returns true if the bytes were accepted as valid; throws ``FuzzFailure`` if an invariant is
    /// violated. A trap counts as a failure as well.
    public let check: @Sendable ([UInt8]) async throws -> Bool

    /// The name of the target.
    public var description: String { name }

    /// All targets.
    public static let all = [
        plugServer, controllerSession, pairingPlug, pairingSession, sampleChunk, mirror, houseMemory, dnsMessage,
        discovery, updates,
        txtRecord, ruleFile, recording, pairedPlugs, plugAddress, controllers, netlink, panel, arpPacket,
        dhcpMessage, dhcpClient, addressing, configuration, rollUpCell, eventCell, databasePage, tariff, scriptLine,
        followedHouse, daemon, plugLife, auditFile, broker, homeKitItems, homeKitServer, matterWire, matterDevice,
        matterCertificate, matterHandshake, matterMessages, manySessions,
        sleepRegistration, storedSleepers,
        sleepProxy, nameServer, pushServer, queryServer, zoneServer, router,
        pushEndpoint, wiFi, guest,
    ]

    /// Returns the target with this name, or nil.
    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// An invariant that an input violated.
public struct FuzzFailure: Error, CustomStringConvertible {
    /// The violated invariant, in English.
    public let description: String

    /// Creates a failure with its description.
    public init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ promise: @autoclosure () -> String) throws(FuzzFailure) {
    guard holds else { throw FuzzFailure(promise()) }
}
