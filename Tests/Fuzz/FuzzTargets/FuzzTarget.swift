/// Something that reads bytes which others wrote, and what has to hold whatever they are. The coverage-guided fuzzer and the
/// ordinary tests check the same.
public struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name of its folder in the corpus.
    public let name: String
    /// Input as it comes in life, to begin with.
    public let seeds: @Sendable () -> [[UInt8]]
    /// Whether the bytes were understood. Throws ``FuzzFailure`` where a promise is broken; a trap is one by itself.
    public let check: @Sendable ([UInt8]) async throws -> Bool

    public var description: String { name }

    public static let all = [
        plugServer, controllerSession, pairingPlug, pairingSession, sampleChunk, mirror, houseMemory, dnsMessage,
        discovery,
        txtRecord, ruleFile, recording, pairedPlugs, controllers, netlink, panel, arpPacket,
        dhcpMessage, dhcpClient, addressing, configuration, rollUpCell, eventCell, tariff, scriptLine,
        followedHouse, daemon, plugLife, auditFile, broker, homeKitItems, homeKitServer, manySessions,
    ]

    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A promise that an input broke.
public struct FuzzFailure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ promise: @autoclosure () -> String) throws(FuzzFailure) {
    guard holds else { throw FuzzFailure(promise()) }
}
