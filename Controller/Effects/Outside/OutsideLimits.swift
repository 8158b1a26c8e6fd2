import Processes

/// The limits that one file sets for programs and servers of rules and scripts. A key that is missing in the file sets
/// no limit. A list allows only its entries.
public struct OutsideLimits: Hashable, Sendable {
    enum Programs: Hashable {
        case any, off
        case only([String])
    }

    enum Servers: Hashable {
        case any, off
        case only([AllowedServer])
    }

    /// The file that sets the limits; refusals name it.
    let file: String
    /// The programs that may run. Folders in their paths may be symbolic links.
    var programs = Programs.any
    var servers = Servers.any
    /// The value of `keep_keys`: true if programs are kept from reading the daemon's keys; nil if the file does not
    /// mention it.
    var keepsKeys: Bool?
    /// The error of reading the file; nil if the file was read. With an error, nothing is allowed.
    private let fault: String?

    init(file: String) {
        self.file = file
        fault = nil
    }

    private init(file: String, fault: String) {
        self.file = file
        self.fault = fault
        (programs, servers) = (.off, .off)
    }

    /// Creates limits that refuse everything, for a file that cannot be read: it may have contained limits.
    public static func unreadable(_ file: String, _ why: String) -> OutsideLimits {
        OutsideLimits(file: file, fault: why)
    }

    /// Returns the reason why a program may not run, or nil if it may.
    ///
    /// - Parameter place: the file that the name resolves to; nil if it is not found.
    func refusal(ofProgram name: String, at place: ResolvedPath?) -> String? {
        switch programs {
        case .any: return nil
        case .off: return "\(name) is not run: " + (fault ?? "\(file) has run = \"off\"")
        case .only(let paths):
            if let place, paths.contains(where: { ResolvedPath($0) == place }) { return nil }
            let found = place.map { $0.path == name ? "" : ", which is \($0.path)," } ?? ", which was not found,"
            return "\(name)\(found) is not run: \(file) does not list it in run"
        }
    }

    /// Returns the reason why a server may not be called, or nil if it may.
    func refusal(ofServer server: WebServer) -> String? {
        let place = (server.host.contains(":") ? "[\(server.host)]" : server.host) + ":\(server.port)"
        switch servers {
        case .any: return nil
        case .off: return "\(place) is not called: " + (fault ?? "\(file) has web_hooks = \"off\"")
        case .only(let allowed):
            if allowed.contains(where: { $0.matches(server) }) { return nil }
            return "\(place) is not called: \(file) does not list it in web_hooks"
        }
    }
}
