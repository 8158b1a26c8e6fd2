import LinuxSystem

extension PlugStorage {
    /// The addresses of paired controllers that the previous process stored, most recent last. Empty after a power loss
    /// and if the file cannot be read: access does not depend on addresses.
    public var addresses: [String] {
        AddressFile.parse((try? flash.files.readSecretIfPresent(file, limit: AddressFile.limit)) ?? [])
    }

    /// Stores the addresses until the next power loss. A failure is not reported, because the next start also works
    /// without these addresses.
    public func keep(addresses: [String]) {
        guard !isClosed else { return }
        try? flash.files.replaceSecret(file, with: AddressFile.bytes(of: addresses))
    }

    private var file: String { AddressFile.path(in: runtime) }
}

/// The file with the addresses of paired controllers, one per line.
enum AddressFile {
    /// The limit of bytes that are read at start.
    static let limit = 4096
    /// The limit of addresses, equal to the limit of controllers. It prevents a wrong file from reserving connections
    /// for many hosts.
    private static let most = 16
    private static let newline = UInt8(ascii: "\n")

    static func path(in directory: String) -> String { directory + "/addresses" }

    static func bytes(of addresses: [String]) -> [UInt8] { addresses.flatMap { Array($0.utf8) + [newline] } }

    /// Parses the lines and ignores invalid ones.
    static func parse(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: newline).filter(isAddress).prefix(most).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns true for IPv4 with dots or IPv6 with colons, at most 45 characters (INET6_ADDRSTRLEN).
    private static func isAddress(_ line: ArraySlice<UInt8>) -> Bool {
        line.count <= 45 && line.allSatisfy("0123456789abcdef.:".utf8.contains)
    }
}
