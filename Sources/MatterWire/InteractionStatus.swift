/// The status codes of the interaction model (Matter 8.10.1). The raw value is the code in messages.
public enum InteractionStatusCode: UInt8, Hashable, Sendable, CaseIterable {
    /// The operation succeeded.
    case success = 0x00
    /// The operation failed.
    case failure = 0x01
    /// The subscription id is not active.
    case invalidSubscription = 0x7D
    /// The accessor has no privilege for the operation.
    case unsupportedAccess = 0x7E
    /// The endpoint does not exist.
    case unsupportedEndpoint = 0x7F
    /// The message is malformed, or does not fit the interaction.
    case invalidAction = 0x80
    /// The command does not exist.
    case unsupportedCommand = 0x81
    /// The fields of the command are malformed.
    case invalidCommand = 0x85
    /// The attribute does not exist.
    case unsupportedAttribute = 0x86
    /// A value is outside its range.
    case constraintError = 0x87
    /// The attribute cannot be written.
    case unsupportedWrite = 0x88
    /// Resources are exhausted.
    case resourceExhausted = 0x89
    /// An entry does not exist.
    case notFound = 0x8B
    /// The attribute cannot be reported.
    case unreportableAttribute = 0x8C
    /// A value has a wrong data type.
    case invalidDataType = 0x8D
    /// The attribute cannot be read.
    case unsupportedRead = 0x8F
    /// The data version of the cluster is not the requested one.
    case dataVersionMismatch = 0x92
    /// The time of the transaction is over.
    case timeout = 0x94
    /// The receiver processes another interaction.
    case busy = 0x9C
    /// An access restriction list forbids the operation.
    case accessRestricted = 0x9D
    /// The cluster does not exist on the endpoint.
    case unsupportedCluster = 0xC3
    /// A proxy has no subscription to the source.
    case noUpstreamSubscription = 0xC5
    /// The operation requires a timed interaction.
    case needsTimedInteraction = 0xC6
    /// The event does not exist.
    case unsupportedEvent = 0xC7
    /// The request has more paths than the receiver supports.
    case pathsExhausted = 0xC8
    /// The request and the preceding timed request do not match.
    case timedRequestMismatch = 0xC9
    /// The operation requires an armed fail-safe.
    case failsafeRequired = 0xCA
    /// The state of the node does not permit the operation.
    case invalidInState = 0xCB
    /// An invoked command has no response.
    case noCommandResponse = 0xCC
}

/// The result of an operation on one path (Matter 10.6.17).
public struct InteractionStatus: Error, Hashable, Sendable {
    /// The status code.
    public var code: InteractionStatusCode
    /// A code that the cluster defines, or nil.
    public var clusterCode: UInt8?

    /// Creates a status.
    public init(_ code: InteractionStatusCode, cluster: UInt8? = nil) { (self.code, clusterCode) = (code, cluster) }

    /// The operation succeeded.
    public static let success = InteractionStatus(.success)
}

extension InteractionStatus {
    /// Decodes a StatusIB. A code that is not defined here is a failure.
    init(_ value: TLVValue) throws(MatterError) {
        let code = try value.field(0, UInt8.self, of: "StatusIB")
        self.init(InteractionStatusCode(rawValue: code) ?? .failure, cluster: try value.optional(1, UInt8.self))
    }

    /// The StatusIB.
    var tlv: TLVValue { .fields((0, .unsigned(UInt64(code.rawValue))), (1, clusterCode.tlv)) }
}
