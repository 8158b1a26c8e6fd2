import Foundation
public import ServiceDiscovery

extension DashboardSettings {
    /// The service with which the daemon announces the page to the network, or nil if the page is served at a loopback
    /// address or the machine's name has no letters or digits. The host name is only for this page, because another
    /// program usually announces the machine's name.
    ///
    /// - Parameter port: the port at which the page is served.
    public func announcement(port: UInt16) -> ServiceRegistration? {
        guard !isLoopback, let label = announcedHost else { return nil }
        return try? ServiceRegistration(
            name: "Smart plugs of \(hostLabel.prefix(40))", type: isSecure ? "_https._tcp" : "_http._tcp",
            hostName: label, port: port)
    }

    /// The first label of the announced host name; nil if the machine's name has no letters or digits.
    var announcedHost: String? {
        let ascii = hostLabel.unicodeScalars.map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
        }
        let label = String(ascii).split(separator: "-").joined(separator: "-").prefix(52)
        return label.isEmpty ? nil : "\(label)-smartplug"
    }

    /// The first label of this machine's name.
    private var hostLabel: String {
        let host = ProcessInfo.processInfo.hostName
        return host.split(separator: ".").first.map(String.init) ?? host
    }
}
