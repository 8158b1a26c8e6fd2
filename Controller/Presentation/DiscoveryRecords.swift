/// One line of `plugctl browse --json`.
public struct BrowseRecord: Encodable, Equatable, Sendable {
    /// found, changed, lost.
    public var event: String
    public var name: String
    public var type: String
    public var domain: String
    public var interface: String
    public var txt: [String: String]

    public init(event: String, name: String, type: String, domain: String, interface: String, txt: [String: String]) {
        self.event = event
        self.name = name
        self.type = type
        self.domain = domain
        self.interface = interface
        self.txt = txt
    }
}

/// What `plugctl resolve --json` prints.
public struct ResolveRecord: Encodable, Equatable, Sendable {
    public var name: String
    public var host: String
    public var port: UInt16
    public var addresses: [String]

    public init(name: String, host: String, port: UInt16, addresses: [String]) {
        self.name = name
        self.host = host
        self.port = port
        self.addresses = addresses
    }
}
