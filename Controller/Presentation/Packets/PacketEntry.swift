import DNSWire
import ServiceDiscovery

/// A record in a packet.
public struct PacketEntry: Encodable, Equatable, Sendable {
    public enum Section: String, Encodable, Sendable {
        /// Of a query: what the asker knows already, and wants to hear from nobody.
        case known
        /// Of a probe: what the sender wants to be alone with.
        case proposed
        case answer
        case authority
        case additional
    }

    public var section: Section
    public var name: String
    public var type: String
    /// Seconds; 0 is a goodbye.
    public var ttl: UInt32
    /// It replaces what was known before (RFC 6762 §10.2).
    public var flush: Bool
    /// What it says, as text.
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
    /// Longer texts are cut: a TXT record of 9000 bytes would bury what comes before it.
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
                ? "there is nothing" : "there is only " + shortened(types.map(\.words).joined(separator: ", "))
        case .other(_, let bytes): "\(bytes.count) bytes"
        }
    }

    private func shortened(_ text: String) -> String {
        text.utf8.count <= Self.longestText ? text : text.prefix(Self.longestText) + "…"
    }
}

extension TXTRecord {
    fileprivate var words: String {
        attributes.map { attribute in
            attribute.key + (attribute.value.map { "=" + String(decoding: $0, as: UTF8.self) } ?? "")
        }.joined(separator: " ")
    }
}
