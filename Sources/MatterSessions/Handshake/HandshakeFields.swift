internal import MatterWire

/// Reads the members of a handshake message and checks their lengths.
struct HandshakeFields: Sendable {
    /// The limit of a handshake message in bytes. Sigma2 with two certificates of 400 bytes has fewer than 1,200.
    static let limit = 1280
    private let value: TLVValue
    private let name: String

    /// Decodes a message.
    ///
    /// - Parameter name: the name of the message for errors.
    init(_ payload: [UInt8], _ name: String) throws(MatterError) {
        guard payload.count <= Self.limit else { throw .invalid("\(name): longer than \(Self.limit) bytes") }
        value = try TLVValue(decoding: payload)
        self.name = name
        guard case .structure = value else { throw .invalid("\(name): not a structure") }
    }

    /// An octet string of this length.
    func bytes(_ tag: UInt8, count: Int) throws(MatterError) -> [UInt8] {
        guard let bytes = value[tag]?.asBytes, bytes.count == count else { throw fault(tag) }
        return bytes
    }

    /// An octet string of this length, or nil if it is missing.
    func optionalBytes(_ tag: UInt8, count: Int) throws(MatterError) -> [UInt8]? {
        guard value[tag] != nil else { return nil }
        return try bytes(tag, count: count)
    }

    /// An octet string whose length is in the range.
    func bytes(_ tag: UInt8, in range: ClosedRange<Int>) throws(MatterError) -> [UInt8] {
        guard let bytes = value[tag]?.asBytes, range.contains(bytes.count) else { throw fault(tag) }
        return bytes
    }

    /// An octet string whose length is in the range, or nil if it is missing.
    func optionalBytes(_ tag: UInt8, in range: ClosedRange<Int>) throws(MatterError) -> [UInt8]? {
        guard value[tag] != nil else { return nil }
        return try bytes(tag, in: range)
    }

    /// A number.
    func number<N: FixedWidthInteger & UnsignedInteger>(_ tag: UInt8, _ type: N.Type) throws(MatterError) -> N {
        guard let number = value[tag]?.unsigned(type) else { throw fault(tag) }
        return number
    }

    /// The session id of a secure session. Zero is the id of unsecured sessions.
    func sessionID(_ tag: UInt8) throws(MatterError) -> UInt16 {
        let id = try number(tag, UInt16.self)
        guard id != 0 else { throw fault(tag) }
        return id
    }

    /// A truth value.
    func flag(_ tag: UInt8) throws(MatterError) -> Bool {
        guard let flag = value[tag]?.asBoolean else { throw fault(tag) }
        return flag
    }

    /// The session parameters of the peer, or the defaults.
    func parameters(_ tag: UInt8) throws(MatterError) -> SessionParameters {
        try SessionParameters(decoding: value[tag])
    }

    /// A structure inside the message, or nil if it is missing.
    func structure(_ tag: UInt8) throws(MatterError) -> HandshakeFields? {
        guard let member = value[tag] else { return nil }
        guard case .structure = member else { throw fault(tag) }
        return HandshakeFields(value: member, name: name)
    }

    private init(value: TLVValue, name: String) { (self.value, self.name) = (value, name) }

    private func fault(_ tag: UInt8) -> MatterError { .invalid("\(name): member \(tag) is missing or not valid") }
}

extension HandshakeResult {
    /// The failure of a handshake, with the status that the peer receives (Matter 4.14.1.3, 4.14.2.5).
    static func refused(_ error: MatterError, _ status: StatusReport = .invalidParameter) -> HandshakeResult {
        .failed(reply: (.statusReport, status.encoded), error)
    }
}

extension StatusReport {
    /// Throws the report if it is not a success.
    static func check(_ payload: [UInt8]) throws(MatterError) {
        let report = try StatusReport(decoding: payload)
        guard report.generalCode == 0, report.protocolID == 0, report.protocolCode == 0 else {
            throw .reported(report)
        }
    }
}
