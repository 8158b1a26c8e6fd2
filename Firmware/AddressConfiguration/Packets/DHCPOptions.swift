/// The options of a DHCP message in their order (RFC 2132), each once. Options in several pieces are joined (RFC 3396).
/// Options from the fields for the server's name and the boot file are included (RFC 2132 §9.3).
public struct DHCPOptions: Hashable, Sendable {
    private struct Option: Hashable {
        let code: DHCPOptionCode
        var data: [UInt8]
    }

    /// The options, at most 254 like the number of codes.
    private var list: [Option] = []

    /// Creates an empty list of options.
    public init() {}

    /// The codes in their order.
    public var codes: [DHCPOptionCode] { list.map(\.code) }

    /// The content of an option; nil if it is missing. Any length is valid, because encoding splits long options.
    public subscript(code: DHCPOptionCode) -> [UInt8]? {
        get { list.first { $0.code == code }?.data }
        set {
            precondition(code != .pad && code != .end, "the option \(code.rawValue) has no content")
            let place = list.firstIndex { $0.code == code }
            switch (place, newValue) {
            case (let place?, let data?): list[place].data = data
            case (let place?, nil): list.remove(at: place)
            case (nil, let data?): list.append(Option(code: code, data: data))
            case (nil, nil): break
            }
        }
    }

    /// Decodes all options of a message: first its options field, then the file field, then the server name (RFC 3396
    /// §5).
    ///
    /// - Parameter bytes: the whole message, including the part before the options.
    init(decodingMessage bytes: [UInt8]) throws(PacketError) {
        try append(decoding: bytes, in: DHCPMessage.optionsStart..<bytes.count)
        let overload = self[.overload]
        self[.overload] = nil
        guard overload?.count == 1, let fields = overload?.first else { return }
        if fields & 1 != 0 { try append(decoding: bytes, in: DHCPMessage.fileRange) }
        if fields & 2 != 0 { try append(decoding: bytes, in: DHCPMessage.serverNameRange) }
        // A nested options field must not declare further options fields.
        self[.overload] = nil
    }

    /// Decodes the options of one field, up to its end option or its last byte.
    private mutating func append(decoding bytes: [UInt8], in range: Range<Int>) throws(PacketError) {
        var reader = ByteReader(bytes, in: range)
        while reader.remaining > 0 {
            let code = DHCPOptionCode(rawValue: try reader.readUInt8())
            if code == .pad { continue }
            if code == .end { return }
            let length = Int(try reader.readUInt8())
            let data = try reader.readBytes(length)
            if let place = list.firstIndex(where: { $0.code == code }) {
                list[place].data += data
            } else {
                list.append(Option(code: code, data: Array(data)))
            }
        }
    }

    /// The encoded options with the end option. Options of more than 255 bytes are split.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for option in list {
            var rest = option.data[...]
            repeat {
                let piece = rest.prefix(255)
                bytes += [option.code.rawValue, UInt8(piece.count)] + piece
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        return bytes + [DHCPOptionCode.end.rawValue]
    }
}

/// The code of an option (RFC 2132; 119: RFC 3397, 121: RFC 3442).
public struct DHCPOptionCode: RawRepresentable, Hashable, Sendable {
    /// The code in the message.
    public let rawValue: UInt8

    /// Creates a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Padding without a length (0).
    public static let pad = DHCPOptionCode(rawValue: 0)
    /// The subnet mask (1).
    public static let subnetMask = DHCPOptionCode(rawValue: 1)
    /// The default routers, preferred one first (3).
    public static let routers = DHCPOptionCode(rawValue: 3)
    /// The name servers, preferred one first (6).
    public static let domainNameServers = DHCPOptionCode(rawValue: 6)
    /// The client's host name (12).
    public static let hostName = DHCPOptionCode(rawValue: 12)
    /// The domain name of the network (15).
    public static let domainName = DHCPOptionCode(rawValue: 15)
    /// The broadcast address of the network (28).
    public static let broadcastAddress = DHCPOptionCode(rawValue: 28)
    /// The time servers, preferred one first (42).
    public static let ntpServers = DHCPOptionCode(rawValue: 42)
    /// The address that the client requests (50).
    public static let requestedAddress = DHCPOptionCode(rawValue: 50)
    /// The lease time in seconds (51).
    public static let leaseTime = DHCPOptionCode(rawValue: 51)
    /// The fields for file and server name that contain further options (52).
    public static let overload = DHCPOptionCode(rawValue: 52)
    /// The type of the message (53).
    public static let messageType = DHCPOptionCode(rawValue: 53)
    /// The address of the server (54).
    public static let serverIdentifier = DHCPOptionCode(rawValue: 54)
    /// The options that the client requests (55).
    public static let parameterRequestList = DHCPOptionCode(rawValue: 55)
    /// The error text of a NAK or a DECLINE (56).
    public static let message = DHCPOptionCode(rawValue: 56)
    /// The maximum message size in bytes (57).
    public static let maximumMessageSize = DHCPOptionCode(rawValue: 57)
    /// T1 in seconds (58).
    public static let renewalTime = DHCPOptionCode(rawValue: 58)
    /// T2 in seconds (59).
    public static let rebindingTime = DHCPOptionCode(rawValue: 59)
    /// The kind of device of the client (60).
    public static let vendorClass = DHCPOptionCode(rawValue: 60)
    /// The client identifier (61).
    public static let clientIdentifier = DHCPOptionCode(rawValue: 61)
    /// The search domains (119).
    public static let searchDomains = DHCPOptionCode(rawValue: 119)
    /// The static routes without classes (121).
    public static let staticRoutes = DHCPOptionCode(rawValue: 121)
    /// The end of the options, without a length (255).
    public static let end = DHCPOptionCode(rawValue: 255)
}
