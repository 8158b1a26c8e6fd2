/// The opcodes of the interaction model (Matter 10.2.1).
public enum InteractionOpcode: UInt8, Hashable, Sendable, CaseIterable {
    /// ``InteractionMessage/status(_:)``.
    case statusResponse = 0x01
    /// ``InteractionMessage/read(_:)``.
    case readRequest = 0x02
    /// ``InteractionMessage/subscribe(_:)``.
    case subscribeRequest = 0x03
    /// ``InteractionMessage/subscribed(id:maxInterval:)``.
    case subscribeResponse = 0x04
    /// ``InteractionMessage/report(_:)``.
    case reportData = 0x05
    /// ``InteractionMessage/write(_:)``.
    case writeRequest = 0x06
    /// ``InteractionMessage/written(_:)``.
    case writeResponse = 0x07
    /// ``InteractionMessage/invoke(_:)``.
    case invokeRequest = 0x08
    /// ``InteractionMessage/invoked(_:)``.
    case invokeResponse = 0x09
    /// ``InteractionMessage/timed(milliseconds:)``.
    case timedRequest = 0x0A
}

/// A message of the interaction model (Matter 10.7).
public enum InteractionMessage: Hashable, Sendable {
    /// The result of an interaction, or of a message within it.
    case status(InteractionStatusCode)
    /// Requests attributes and events.
    case read(ReadRequest)
    /// Requests a subscription.
    case subscribe(SubscribeRequest)
    /// A subscription is active. `maxInterval` is the largest time between reports in seconds.
    case subscribed(id: UInt32, maxInterval: UInt16)
    /// Reports attributes and events.
    case report(ReportData)
    /// Requests writes.
    case write(WriteRequest)
    /// The results of the writes.
    case written([AttributeStatus])
    /// Requests commands.
    case invoke(InvokeRequest)
    /// The answers to commands.
    case invoked(InvokeResponse)
    /// The next request of the exchange follows within this time.
    case timed(milliseconds: UInt16)

    /// The revision of the interaction model that messages carry (Matter 8.1.1).
    public static let revision: UInt8 = 11
    /// The limit of paths per decoded request. It protects the receiver against requests that are expensive to expand.
    public static let pathLimit = 64

    private static let revisionTag: UInt8 = 0xFF

    /// Decodes a message. Unknown fields are ignored, and missing truth values are false.
    ///
    /// - Throws: ``MatterError``, whose ``MatterError/interactionStatus`` answers the message.
    public init(opcode: UInt8, payload: some Collection<UInt8>) throws(MatterError) {
        guard let opcode = InteractionOpcode(rawValue: opcode) else {
            throw .invalid("interaction model: opcode \(opcode) is not defined")
        }
        let value = try TLVValue(decoding: payload)
        guard case .structure = value else { throw .invalid("interaction model: the message is not a structure") }
        switch opcode {
        case .statusResponse:
            let code = try value.field(0, UInt8.self, of: "StatusResponse")
            self = .status(InteractionStatusCode(rawValue: code) ?? .failure)
        case .readRequest: self = .read(try ReadRequest(value, .read))
        case .subscribeRequest: self = .subscribe(try SubscribeRequest(value))
        case .subscribeResponse:
            self = .subscribed(
                id: try value.field(0, UInt32.self, of: "SubscribeResponse"),
                maxInterval: try value.field(2, UInt16.self, of: "SubscribeResponse"))
        case .reportData: self = .report(try ReportData(value))
        case .writeRequest: self = .write(try WriteRequest(value))
        case .writeResponse:
            self = .written(try value.items(0).map { item throws(MatterError) in try AttributeStatus(item) })
        case .invokeRequest: self = .invoke(try InvokeRequest(value))
        case .invokeResponse: self = .invoked(try InvokeResponse(value))
        case .timedRequest: self = .timed(milliseconds: try value.field(0, UInt16.self, of: "TimedRequest"))
        }
    }

    /// The opcode of the message.
    public var opcode: UInt8 { kind.rawValue }

    private var kind: InteractionOpcode {
        switch self {
        case .status: .statusResponse
        case .read: .readRequest
        case .subscribe: .subscribeRequest
        case .subscribed: .subscribeResponse
        case .report: .reportData
        case .write: .writeRequest
        case .written: .writeResponse
        case .invoke: .invokeRequest
        case .invoked: .invokeResponse
        case .timed: .timedRequest
        }
    }

    /// The encoded message.
    public var encoded: [UInt8] { tlv.encoded }

    /// The number of bytes of ``encoded``.
    public var encodedCount: Int { tlv.encodedCount }

    private var tlv: TLVValue {
        let members: [(UInt8, TLVValue?)] =
            switch self {
            case .status(let code): [(0, .unsigned(UInt64(code.rawValue)))]
            case .read(let request): request.tlv(.read)
            case .subscribe(let request): request.tlv
            case .subscribed(let id, let interval): [(0, .unsigned(UInt64(id))), (2, .unsigned(UInt64(interval)))]
            case .report(let report): report.tlv
            case .write(let request): request.tlv
            case .written(let statuses): [(0, .array(statuses.map(\.tlv)))]
            case .invoke(let request): request.tlv
            case .invoked(let response): response.tlv
            case .timed(let milliseconds): [(0, .unsigned(UInt64(milliseconds)))]
            }
        return .fields(members: members + [(Self.revisionTag, .unsigned(UInt64(Self.revision)))])
    }
}
