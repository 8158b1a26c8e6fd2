public import ConfigurationFiles
public import DNSWire
internal import Glibc

/// A machine that this host can wake.
public struct KnownMachine: Hashable, Sendable {
    /// The user's name for the machine.
    public var name: String
    /// The card that receives the magic packet.
    public var card: MACAddress
    /// The password of the magic packet ("SecureOn"), or nil.
    public var password: WakePassword?
    /// The only interface that sends the magic packet; nil for all.
    public var interface: String?
    /// The machine's addresses, which are checked for an answer; empty if only its card is known.
    public var addresses: [IPAddress]
    /// True if the machine is known from the sleep proxy of a plug, which has neither a password nor an interface for it.
    public private(set) var isLearned = false

    /// Creates a machine.
    public init(
        name: String, card: MACAddress, password: WakePassword? = nil, interface: String? = nil,
        addresses: [IPAddress] = []
    ) {
        self.name = name
        self.card = card
        self.password = password
        self.interface = interface
        self.addresses = addresses
    }

    /// Creates a learned machine from the text of its addresses; nil if `card` is not the address of one network card.
    public init?(learned name: String, card: String, addresses: [String]) {
        guard let card = AddressText.card(card) else { return nil }
        self.init(name: name, card: card, addresses: addresses.compactMap { AddressText.address($0) })
        isLearned = true
    }
}

/// The machines that this host can wake: those of `machines.toml`, and hosts that slept at the plugs' sleep proxies.
public struct KnownMachines: Hashable, Sendable {
    /// The maximum size of the file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The maximum number of machines.
    static let limit = 256

    /// The machines: those of the file in its order, then the added ones.
    public private(set) var machines: [KnownMachine] = []

    /// Creates an empty list.
    public init() {}

    /// Reads the machines from a TOML file. Each table is a machine, and its name is the user's name for it:
    ///
    /// ```toml
    /// ["Media Server"]
    /// mac = "00:11:22:33:44:55"
    /// address = "192.0.2.7"    # optional
    /// password = "0a:0b:0c:0d:0e:0f"    # optional
    /// interface = "eth0"    # optional
    /// ```
    ///
    /// - Parameter file: the path of the file, for messages.
    /// - Throws: `ConfigurationError` with all mistakes in the file.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let names = reader.text.tables.keys.sorted { (reader.text.line($0) ?? 0, $0) < (reader.text.line($1) ?? 0, $1) }
        for name in names {
            if let machine = reader.table(name).machine() { machines.append(machine) }
        }
        if names.count > Self.limit {
            let found = "a file with \(names.count) machines"
            reader.wrong(.outOfRange(found: found, allowed: "at most \(Self.limit)"), names.last)
        }
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    /// Adds a machine, unless a machine has the same name or card, or the list is full.
    public mutating func add(_ machine: KnownMachine) {
        let name = machine.name.lowercased()
        let isKnown = machines.contains { $0.card == machine.card || $0.name.lowercased() == name }
        if !isKnown, !name.isEmpty, machines.count < Self.limit { machines.append(machine) }
    }

    /// Returns the machine with exactly this name, otherwise the machine whose name differs only in capitals, if
    /// there is exactly one. Returns nil for any other name.
    public func machine(_ name: String) -> KnownMachine? {
        if let exact = machines.first(where: { $0.name == name }) { return exact }
        let near = machines.filter { $0.name.lowercased() == name.lowercased() }
        return near.count == 1 ? near[0] : nil
    }
}

extension ConfigurationReader.Table {
    /// Reads a machine, and adds the table's mistakes to those of the reader. Returns nil if `mac` is missing or not valid.
    fileprivate func machine() -> KnownMachine? {
        if !has("mac") { wrong(.missing("mac = \"...\", the address of the machine's network card")) }
        let card = text("mac", "six bytes such as \"00:11:22:33:44:55\"", longest: 17).flatMap { text -> MACAddress? in
            let card = AddressText.card(text)
            if card == nil {
                wrong(.contradiction("\"\(text)\" is not the address of one card, such as 00:11:22:33:44:55"), "mac")
            }
            return card
        }
        let password = text("password", "four or six bytes such as \"0a:0b:0c:0d:0e:0f\"", longest: 17).flatMap {
            text -> WakePassword? in
            let password = AddressText.bytes(text).flatMap { WakePassword(bytes: $0) }
            if password == nil {
                wrong(.contradiction("a password has four or six bytes, such as 0a:0b:0c:0d"), "password")
            }
            return password
        }
        let interface = text("interface", "the name of a network interface", longest: 15)
        let address = text("address", "an IPv4 or IPv6 address", longest: 45).flatMap { text -> IPAddress? in
            let address = AddressText.address(text)
            if address == nil { wrong(.contradiction("\"\(text)\" is not an address such as 192.0.2.7"), "address") }
            return address
        }
        guard let card else { return nil }
        return KnownMachine(
            name: name, card: card, password: password, interface: interface, addresses: address.map { [$0] } ?? [])
    }
}

/// Parses the text of addresses.
private enum AddressText {
    /// Parses the address of one network card.
    static func card(_ text: String) -> MACAddress? {
        bytes(text).flatMap { MACAddress(bytes: $0) }.flatMap { $0.isGroup || $0 == .zero ? nil : $0 }
    }

    /// Parses an address as `inet_pton` does.
    static func address(_ text: String) -> IPAddress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return IPAddress(bytes: bytes.prefix(4)) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? IPAddress(bytes: bytes) : nil
    }

    /// Parses bytes of two hexadecimal digits, separated by colons or by hyphens.
    static func bytes(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: text.contains("-") ? "-" : ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part -> UInt8? in
            guard part.utf8.count == 2, part.allSatisfy(\.isHexDigit) else { return nil }
            return UInt8(part, radix: 16)
        }
        return bytes.count == parts.count ? bytes : nil
    }
}
