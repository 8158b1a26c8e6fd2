package import AddressConfiguration
import DNSWire
package import LinuxSystem
package import Logging

/// Stores the addresses of interfaces in two files of the plug's state directory. Only the owner can read them. Each
/// file contains the same line twice, so that a damaged digit is detected.
///
/// `networks`: an entry per interface, separated by spaces. An entry has the interface's name, link-local address,
/// leased address and DHCP server, separated by colons, with a hyphen for a missing address. `network-secret`: 16
/// bytes, for addresses that other hosts cannot predict (RFC 7217). A damaged file is ignored, so the interfaces may
/// get different addresses. A factory reset removes both files, but interfaces keep their current addresses.
package final class AddressStore {
    /// The maximum number of interfaces. The ones written last are kept, so that a host that always creates new
    /// interfaces cannot fill the file.
    private static let most = 16
    private static let fileLimit = 4096

    private let directory: String
    private let files: FileStore
    private let logger: Logger
    /// The entries, in the order in which they were written.
    private var entries: [(interface: String, RememberedAddresses)] = []
    private var kept: [UInt8]?

    /// Reads the stored addresses. Missing and damaged files are treated as empty.
    package init(directory: String, files: FileStore = FileStore(), logger: Logger) {
        self.directory = directory
        self.files = files
        self.logger = logger
        if let line = line(of: "networks") {
            if let parsed = Self.parse(line) { entries = parsed } else { sayDamaged("networks") }
        }
    }

    /// Returns the stored addresses of an interface, or empty values.
    package func remembered(of interface: String) -> RememberedAddresses {
        entries.last { $0.interface == interface }?.1 ?? RememberedAddresses()
    }

    /// Stores the addresses of an interface. Errors are logged.
    package func remember(_ addresses: RememberedAddresses, of interface: String) {
        entries.removeAll { $0.interface == interface }
        entries.append((interface, addresses))
        entries = entries.suffix(Self.most)
        write("networks", Self.line(entries))
    }

    /// The secret of 16 bytes, created on first use.
    package var secret: [UInt8] {
        if let kept { return kept }
        var secret = line(of: "network-secret").flatMap(Self.parseSecret)
        if secret == nil {
            var random = SystemRandomNumberGenerator()
            let drawn = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            write("network-secret", drawn.map { Self.hexadecimal($0) }.joined())
            secret = drawn
        }
        kept = secret
        return secret ?? []
    }

    private func line(of name: String) -> String? {
        do throws(FileError) {
            guard let bytes = try files.readSecretIfPresent("\(directory)/\(name)", limit: Self.fileLimit) else {
                return nil
            }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count == 3, lines[0] == lines[1], lines[2].isEmpty { return String(lines[0]) }
            sayDamaged(name)
        } catch {
            logger.warning(
                "cannot read the stored addresses: \(error)", metadata: error.hint.map { ["hint": "\($0)"] })
        }
        return nil
    }

    private func sayDamaged(_ name: String) {
        logger.warning("\(directory)/\(name) is damaged: the interfaces may get different addresses")
    }

    private func write(_ name: String, _ line: String) {
        do throws(FileError) {
            try files.makeDirectories(directory)
            try files.replaceSecret("\(directory)/\(name)", with: Array("\(line)\n\(line)\n".utf8))
        } catch {
            logger.warning(
                "cannot store the addresses, so they may change after a restart: \(error)",
                metadata: error.hint.map { ["hint": "\($0)"] })
        }
    }

    private static func line(_ entries: [(interface: String, RememberedAddresses)]) -> String {
        entries.map { interface, addresses in
            let fields = [addresses.linkLocal, addresses.lease?.address, addresses.lease?.server]
            return ([interface] + fields.map { $0.map { "\($0)" } ?? "-" }).joined(separator: ":")
        }.joined(separator: " ")
    }

    private static func parse(_ line: String) -> [(interface: String, RememberedAddresses)]? {
        var entries: [(interface: String, RememberedAddresses)] = []
        for entry in line.split(separator: " ") {
            let fields = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 4, !fields[0].isEmpty else { return nil }
            var addresses: [IPv4Address?] = []
            for field in fields[1...] {
                guard field != "-" else {
                    addresses.append(nil)
                    continue
                }
                guard let address = IPv4Address(text: field) else { return nil }
                addresses.append(address)
            }
            var lease: RememberedLease?
            if let address = addresses[1], let server = addresses[2] {
                lease = RememberedLease(address: address, server: server)
            }
            entries.append((String(fields[0]), RememberedAddresses(linkLocal: addresses[0], lease: lease)))
        }
        return entries
    }

    private static func parseSecret(_ line: String) -> [UInt8]? {
        let digits = line.compactMap(\.hexDigitValue)
        guard digits.count == 32, line.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
