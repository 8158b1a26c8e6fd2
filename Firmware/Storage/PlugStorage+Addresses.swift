import DurableFiles

extension PlugStorage {
    /// Where paired controllers came from, as the process before kept it, that heard of last at the end. Empty after a loss of
    /// power, and where it cannot be read: nobody is let in for his address, and nobody kept out for want of it.
    public var addresses: [String] {
        AddressFile.parse((try? flash.files.readSecretIfPresent(file, limit: AddressFile.limit)) ?? [])
    }

    /// Keeps them until the board loses power. Without it only the next start is poorer, so a failure is no trouble.
    public func keep(addresses: [String]) {
        guard !isClosed else { return }
        try? flash.files.replaceSecret(file, with: AddressFile.bytes(of: addresses))
    }

    private var file: String { AddressFile.path(in: runtime) }
}

/// A line for each address.
enum AddressFile {
    /// Bytes that are read at a start.
    static let limit = 4096
    /// As many as there can be controllers: stops a wrong file from giving half a network room at the plug's door.
    private static let most = 16
    private static let newline = UInt8(ascii: "\n")

    static func path(in directory: String) -> String { directory + "/addresses" }

    static func bytes(of addresses: [String]) -> [UInt8] { addresses.flatMap { Array($0.utf8) + [newline] } }

    /// What is no address is left out.
    static func parse(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: newline).filter(isAddress).prefix(most).map { String(decoding: $0, as: UTF8.self) }
    }

    /// IPv4 with dots or IPv6 with colons, at most 45 characters (INET6_ADDRSTRLEN).
    private static func isAddress(_ line: ArraySlice<UInt8>) -> Bool {
        line.count <= 45 && line.allSatisfy("0123456789abcdef.:".utf8.contains)
    }
}
