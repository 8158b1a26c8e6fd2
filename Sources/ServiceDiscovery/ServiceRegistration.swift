import DNSWire
import ProtocolCore

/// A service to register in `local`.
public struct ServiceRegistration: Hashable, Sendable {
    /// The service instance name: UTF-8 text of 1 to 63 bytes.
    public let name: String
    /// The service type, without a subtype.
    public let type: ServiceType
    /// The labels of subtypes, such as `_dimmer`.
    public let subtypes: [String]
    /// The first label of the host name, without `.local`.
    public let hostName: String
    /// The port of the service.
    public let port: UInt16
    /// The attributes.
    public var txt: TXTRecord

    /// Checks all names, so that no later step can fail, and normalizes them to form C.
    ///
    /// - Throws: the reason if a name is not valid.
    public init(
        name: String, type: ServiceType, subtypes: [String] = [], hostName: String, port: UInt16,
        txt: TXTRecord = TXTRecord()
    ) throws(ServiceDiscoveryError) {
        let name = name.precomposed
        let subtypes = subtypes.map(\.precomposed)
        self.name = name
        self.type = type.base
        self.subtypes = subtypes
        self.hostName = hostName
        self.port = port
        self.txt = txt
        guard (1...RFC6763.instanceNameLimit).contains(name.utf8.count) else { throw .nameLength(name.utf8.count) }
        guard !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .controlCharacter(name) }
        let isAllowed = { (byte: UInt8) in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2D
        }
        guard (1...Name.labelLimit).contains(hostName.utf8.count), hostName.utf8.allSatisfy(isAllowed) else {
            throw .hostName(hostName)
        }
        for subtype in subtypes { _ = try type.base.subtype(subtype) }
    }
}
