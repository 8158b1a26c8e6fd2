/// The texts of UPnP's Internet Gateway Device, version 1: the search for a router, its description, and the requests to
/// its service WANIPConnection or WANPPPConnection. Routers send XML, of which only a few elements are read.
enum GatewayDevice {
    /// The search for any router.
    static let search: [UInt8] = Array(
        ("M-SEARCH * HTTP/1.1\r\nHOST: \(PortMapper.searchAddress):\(PortMapper.searchPort)\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n"
            + "ST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n\r\n").utf8)

    /// A service of a router that maps ports.
    struct Service: Hashable, Sendable {
        /// The type, such as `urn:schemas-upnp-org:service:WANIPConnection:1`.
        let type: String
        let url: DeviceURL
    }

    /// A request to a service.
    enum Request: Hashable, Sendable {
        case externalAddress
        /// The lifetime is in seconds.
        case add(externalPort: UInt16, internalPort: UInt16, host: String, lifetime: UInt32)
        case remove(externalPort: UInt16)

        var action: String {
            switch self {
            case .externalAddress: "GetExternalIPAddress"
            case .add: "AddPortMapping"
            case .remove: "DeletePortMapping"
            }
        }

        private var arguments: [(String, String)] {
            switch self {
            case .externalAddress: []
            case .add(let externalPort, let internalPort, let host, let lifetime):
                [
                    ("NewRemoteHost", ""), ("NewExternalPort", "\(externalPort)"), ("NewProtocol", "TCP"),
                    ("NewInternalPort", "\(internalPort)"), ("NewInternalClient", host), ("NewEnabled", "1"),
                    ("NewPortMappingDescription", "smart plug"), ("NewLeaseDuration", "\(lifetime)"),
                ]
            case .remove(let externalPort):
                [("NewRemoteHost", ""), ("NewExternalPort", "\(externalPort)"), ("NewProtocol", "TCP")]
            }
        }

        /// The HTTP request to the service.
        func message(to service: Service) -> [UInt8] {
            let content = arguments.map { "<\($0)>\($1)</\($0)>" }.joined()
            let body = """
                <?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" \
                s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>\
                <u:\(action) xmlns:u="\(service.type)">\(content)</u:\(action)></s:Body></s:Envelope>
                """
            let header = """
                POST \(service.url.path) HTTP/1.1\r\nHost: \(service.url.host):\(service.url.port)\r\n\
                Content-Type: text/xml; charset="utf-8"\r\nSOAPAction: "\(service.type)#\(action)"\r\n\
                Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n
                """
            return Array((header + body).utf8)
        }
    }

    /// Returns the request for a description.
    static func fetch(_ url: DeviceURL) -> [UInt8] {
        Array("GET \(url.path) HTTP/1.1\r\nHost: \(url.host):\(url.port)\r\nConnection: close\r\n\r\n".utf8)
    }

    /// Returns the address of the description from the answer to a search, or nil if it is not one.
    static func location(in answer: [UInt8]) -> DeviceURL? {
        let lines = String(decoding: answer.prefix(2048), as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.first?.hasPrefix("HTTP/1.1 200") == true else { return nil }
        let line = lines.first { $0.lowercased().hasPrefix("location:") }
        return line.flatMap { DeviceURL(String($0.dropFirst("location:".count)).trimmed) }
    }

    /// Returns the first service of a description that maps ports.
    static func service(in description: String, of base: DeviceURL) -> Service? {
        for part in description.components(between: "<service>", and: "</service>") {
            guard let type = part.element("serviceType"), let path = part.element("controlURL"),
                type.hasPrefix("urn:schemas-upnp-org:service:WANIPConnection:")
                    || type.hasPrefix("urn:schemas-upnp-org:service:WANPPPConnection:"),
                type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }),
                let url = DeviceURL(path, relativeTo: base)
            else { continue }
            return Service(type: type, url: url)
        }
        return nil
    }
}

/// An `http` URL of a device, whose host is an IP address.
struct DeviceURL: Hashable, Sendable {
    let host: String
    let port: UInt16
    let path: String

    /// The limit of a path in bytes.
    private static let pathLimit = 512

    /// Parses `http://HOST[:PORT][/PATH]`. Returns nil for other text.
    init?(_ text: String) {
        guard text.lowercased().hasPrefix("http://") else { return nil }
        let rest = text.dropFirst("http://".count)
        let place = rest.prefix { $0 != "/" }
        let parts = place.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let host = parts.first, !host.isEmpty,
            let port = parts.count == 2 ? UInt16(parts[1]) : 80, port > 0
        else { return nil }
        self.init(host: String(host), port: port, path: String(rest.dropFirst(place.count)))
    }

    /// Resolves a URL or a path.
    init?(_ text: String, relativeTo base: DeviceURL) {
        if text.lowercased().hasPrefix("http://") {
            self.init(text)
        } else {
            self.init(host: base.host, port: base.port, path: text.hasPrefix("/") ? text : "/" + text)
        }
    }

    private init?(host: String, port: UInt16, path: String) {
        let path = path.isEmpty ? "/" : path
        guard path.utf8.count <= Self.pathLimit, path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.host = host
        self.port = port
        self.path = path
    }
}

/// The response to an HTTP request whose connection the server has closed.
struct DeviceResponse: Hashable, Sendable {
    let status: Int
    let body: String

    /// The limit of a response in bytes. A description has some kilobytes.
    static let limit = 64 << 10

    /// Parses a response. Returns nil if it has no status line, or a body that is not complete.
    init?(_ bytes: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: bytes[..<split], as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let words = lines.first?.split(separator: " "), words.count >= 2, words[0].hasPrefix("HTTP/1."),
            let status = Int(words[1])
        else { return nil }
        let rest = bytes[(split + end.count)...]
        let isChunked = lines.contains { line in
            let line = line.lowercased()
            return line.hasPrefix("transfer-encoding:") && line.contains("chunked")
        }
        guard let body = isChunked ? Self.joined(rest) : Array(rest) else { return nil }
        self.status = status
        self.body = String(decoding: body, as: UTF8.self)
    }

    /// Joins the chunks of a body (RFC 9112 §7.1).
    private static func joined(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var (rest, body): (ArraySlice<UInt8>, [UInt8]) = (bytes, [])
        while true {
            let line = rest.prefix { $0 != UInt8(ascii: "\r") }
            let digits = String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let size = Int(digits, radix: 16), size >= 0, rest.count >= line.count + 2 else { return nil }
            if size == 0 { return body }
            rest = rest.dropFirst(line.count + 2)
            guard rest.count >= size, size <= limit else { return nil }
            body += rest.prefix(size)
            rest = rest.dropFirst(size).dropFirst(2)
        }
    }
}

extension String {
    /// The text without blanks at both ends.
    var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
    }

    /// Returns the content of the first element with this name, without blanks at both ends.
    func element(_ name: String) -> String? {
        components(between: "<\(name)>", and: "</\(name)>").first.map { String($0).trimmed }
    }

    /// Returns the parts between two marks, in order.
    func components(between start: String, and end: String) -> [String] {
        var (parts, rest): ([String], ArraySlice<UInt8>) = ([], Array(utf8)[...])
        let (start, end) = (Array(start.utf8), Array(end.utf8))
        while let from = rest.offset(of: start) {
            rest = rest[(from + start.count)...]
            guard let to = rest.offset(of: end) else { break }
            parts.append(String(decoding: rest[..<to], as: UTF8.self))
            rest = rest[(to + end.count)...]
        }
        return parts
    }
}

extension ArraySlice<UInt8> {
    /// Returns the index at which these bytes begin; nil if they are missing.
    fileprivate func offset(of bytes: [UInt8]) -> Int? {
        guard let first = bytes.first else { return nil }
        var index = startIndex
        while index < endIndex {
            guard let found = self[index...].firstIndex(of: first) else { return nil }
            if self[found...].starts(with: bytes) { return found }
            index = found + 1
        }
        return nil
    }
}
