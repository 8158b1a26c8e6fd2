package import AddressConfiguration
package import DNSWire
package import LinuxSystem
package import Logging

/// Publishes the name servers and time servers from DHCP in the plug's runtime directory: `resolv.conf`
/// (resolv.conf(5)) and `ntp-servers` (one address per line). Each file exists while a lease has such servers. The
/// administrator may make /etc/resolv.conf a link to the first one.
package final class ServerFiles {
    /// The limits of resolvers: MAXNS, and the six search domains of old resolvers.
    private static let nameServerLimit = 3
    private static let domainLimit = 6
    private static let timeServerLimit = 8

    private let directory: String
    private let files: FileStore
    private let logger: Logger
    /// The servers by interface index. The files list the servers in the order of the indices.
    private var servers: [Int32: NetworkServers] = [:]

    /// Creates the value without accessing files.
    package init(directory: String, files: FileStore = FileStore(), logger: Logger) {
        self.directory = directory
        self.files = files
        self.logger = logger
    }

    /// Sets the servers of an interface, or removes them if `new` is nil, and writes the files. A file without servers
    /// is removed. Errors are logged.
    package func set(_ new: NetworkServers?, of interface: Int32) {
        guard servers[interface] != new || servers.isEmpty else { return }
        servers[interface] = new
        let all = servers.sorted { $0.key < $1.key }.map(\.value)
        write("resolv.conf", Self.resolverConfiguration(all))
        write("ntp-servers", Self.lines(all.flatMap(\.timeServers), limit: Self.timeServerLimit) { "\($0)" })
    }

    /// The name servers of an interface.
    package func nameServers(of interface: Int32) -> [IPv4Address] { servers[interface]?.nameServers ?? [] }

    /// Writes a file, or removes it if the text is nil.
    private func write(_ name: String, _ text: String?) {
        let path = "\(directory)/\(name)"
        do throws(FileError) {
            guard let text else { return try files.removeIfPresent(path) }
            try files.makeDirectories(directory)
            try files.replaceForAll(path, with: Array(text.utf8))
        } catch {
            logger.warning("cannot publish the servers from DHCP: \(error)")
        }
    }

    static func resolverConfiguration(_ servers: [NetworkServers]) -> String? {
        let nameServers = lines(servers.flatMap(\.nameServers), limit: nameServerLimit) { "nameserver \($0)" }
        guard let nameServers else { return nil }
        let domains = servers.flatMap { $0.searchDomains.isEmpty ? $0.domain.map { [$0] } ?? [] : $0.searchDomains }
        let search = unique(domains, limit: domainLimit).joined(separator: " ")
        return "# Written by plugd, from DHCP.\n" + (search.isEmpty ? "" : "search \(search)\n") + nameServers
    }

    private static func lines<Element: Hashable>(
        _ elements: [Element], limit: Int, _ line: (Element) -> String
    ) -> String? {
        elements.isEmpty ? nil : unique(elements, limit: limit).map { line($0) + "\n" }.joined()
    }

    private static func unique<Element: Hashable>(_ elements: [Element], limit: Int) -> [Element] {
        var known: Set<Element> = []
        return Array(elements.filter { known.insert($0).inserted }.prefix(limit))
    }
}
