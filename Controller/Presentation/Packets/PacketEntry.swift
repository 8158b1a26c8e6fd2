import DNSWire
import ServiceDiscovery

/// A record in a packet.
public struct PacketEntry: Encodable, Equatable, Sendable {
    /// The section of the packet, with its meaning in a query or a response.
    public enum Section: String, Encodable, Sendable {
        /// A known answer of a query, which the sender does not need again.
        case known
        /// A proposed record of a probe, which the sender wants to own.
        case proposed
        case answer
        case authority
        case additional
    }

    /// The section of the record.
    public var section: Section
    /// The name of the record.
    public var name: String
    /// The registered name of its type, or `TYPE123` (RFC 3597 section 5).
    public var type: String
    /// The time to live in seconds; 0 is a goodbye.
    public var ttl: UInt32
    /// True if the record replaces cached ones (RFC 6762 §10.2).
    public var flush: Bool
    /// The record data as text.
    public var data: String

    init(_ section: Section, _ record: Record) {
        self.section = section
        name = "\(record.name)"
        type = record.type.words
        ttl = record.timeToLive
        flush = record.isCacheFlush
        data = record.data.words
    }
}

extension RecordType {
    /// The registered name, or `TYPE123` (RFC 3597 §5).
    var words: String {
        switch self {
        case .a: "A"
        case .ptr: "PTR"
        case .hinfo: "HINFO"
        case .txt: "TXT"
        case .aaaa: "AAAA"
        case .srv: "SRV"
        case .opt: "OPT"
        case .nsec: "NSEC"
        case .any: "ANY"
        default: "TYPE\(rawValue)"
        }
    }
}

extension RecordData {
    /// The maximum length of a text in UTF-8 bytes. A longer text is cut to at most this number of bytes, after a whole
    /// character. Otherwise a TXT record of 9000 bytes would hide all previous output.
    private static let longestText = 1300

    var words: String {
        switch self {
        case .a(let address): "\(address)"
        case .aaaa(let address): "\(address)"
        case .ptr(let name): "\(name)"
        case .srv(priority: 0, weight: 0, let port, let target): "\(target) port \(port)"
        case .srv(let priority, let weight, let port, let target):
            "\(target) port \(port), priority \(priority), weight \(weight)"
        case .txt(let strings): shortened(TXTRecord(decoding: strings).words)
        case .nsec(_, let types):
            types.isEmpty
                ? "no records exist"
                : "only these types exist: " + shortened(types.map(\.words).joined(separator: ", "))
        case .other(_, let bytes): "\(bytes.count) bytes"
        }
    }

    private func shortened(_ text: String) -> String {
        guard text.utf8.count > Self.longestText else { return text }
        var start = text.prefix(Self.longestText)
        while start.utf8.count > Self.longestText { start.removeLast() }
        return start + "…"
    }
}

extension TXTRecord {
    fileprivate var words: String {
        attributes.map { attribute in
            attribute.key + (attribute.value.map { "=" + String(decoding: $0, as: UTF8.self) } ?? "")
        }.joined(separator: " ")
    }
}
