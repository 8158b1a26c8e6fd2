internal import MatterWire

/// The tags of the ASN.1 types in certificates and signing requests (X.690).
enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let identifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// Member 0 of a structure, constructed.
    static let member0: UInt8 = 0xA0
}

/// Reads DER elements one after the other.
struct DERReader: Sendable {
    /// The bytes that are not read yet.
    private(set) var rest: ArraySlice<UInt8>
    private let name: String

    /// - Parameter name: the name of the structure for errors.
    init(_ bytes: ArraySlice<UInt8>, _ name: String) { (rest, self.name) = (bytes, name) }

    var isAtEnd: Bool { rest.isEmpty }
    /// The tag of the next element.
    var nextTag: UInt8? { rest.first }

    /// Reads the next element. Returns its contents, and the element with its tag and length.
    mutating func read(_ tag: UInt8) throws(MatterError) -> (contents: ArraySlice<UInt8>, element: ArraySlice<UInt8>) {
        var reader = rest
        guard reader.popFirst() == tag, let first = reader.popFirst() else { throw fault(tag) }
        var count = Int(first)
        if first >= 0x80 {
            // Certificates and requests are shorter than 64 KiB.
            guard (0x81...0x82).contains(first) else { throw fault(tag) }
            count = 0
            for _ in 0..<(first & 0x7F) {
                guard let byte = reader.popFirst() else { throw fault(tag) }
                count = count << 8 | Int(byte)
            }
            guard count >= (first == 0x81 ? 0x80 : 0x100) else { throw fault(tag) }
        }
        guard reader.count >= count else { throw fault(tag) }
        let contents = reader.prefix(count)
        let element = rest.prefix(upTo: contents.endIndex)
        rest = rest.suffix(from: contents.endIndex)
        return (contents, element)
    }

    /// Reads the next element and returns a reader of its contents.
    mutating func enter(_ tag: UInt8) throws(MatterError) -> DERReader { DERReader(try read(tag).contents, name) }

    /// Reads the next element and returns its contents.
    mutating func contents(_ tag: UInt8) throws(MatterError) -> [UInt8] { Array(try read(tag).contents) }

    /// Reads a bit string of whole bytes.
    mutating func bits() throws(MatterError) -> [UInt8] {
        let contents = try contents(DERTag.bitString)
        guard contents.first == 0 else { throw fault(DERTag.bitString) }
        return Array(contents.dropFirst())
    }

    /// Reads SubjectPublicKeyInfo of a P-256 key.
    mutating func publicKey() throws(MatterError) -> [UInt8] {
        var info = try enter(DERTag.sequence)
        var algorithm = try info.enter(DERTag.sequence)
        guard try algorithm.contents(DERTag.identifier) == DER.Identifier.ecPublicKey,
            try algorithm.contents(DERTag.identifier) == DER.Identifier.prime256v1
        else { throw .invalid("\(name): the public key is not for P-256") }
        let key = try info.bits()
        guard HandshakeCryptography.isPoint(key) else { throw .invalid("\(name): the public key is not valid") }
        return key
    }

    /// Throws if bytes follow.
    func end() throws(MatterError) {
        guard rest.isEmpty else { throw .invalid("\(name): bytes follow the structure") }
    }

    private func fault(_ tag: UInt8) -> MatterError { .invalid("\(name): an element of type \(tag) is missing") }
}
