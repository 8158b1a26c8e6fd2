import Automation

/// What rules and scripts may do outside of the house, as one file says it. What it says nothing of is allowed.
public struct OutsideLimits: Hashable, Sendable {
    enum Programs: Hashable {
        case any, off
        case only([String])
    }

    enum Servers: Hashable {
        case any, off
        case only([AllowedServer])
    }

    /// Whose word it is, for those who are refused.
    let file: String
    /// By paths, whose folders may be reached through links.
    var programs = Programs.any
    var servers = Servers.any
    /// Whether programs are kept from reading the daemon's keys; nil where nothing is said.
    var keepsKeys: Bool?
    /// Why the file cannot be read, which allows nothing.
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

    /// Stands for a file that cannot be read: it may have been one that forbids.
    public static func unreadable(_ file: String, _ why: String) -> OutsideLimits {
        OutsideLimits(file: file, fault: why)
    }

    /// Why a program is not run, in words; nil where it may be.
    ///
    /// - Parameter place: where it was found; nil where it was not.
    func refusal(ofProgram name: String, at place: FilePlace?) -> String? {
        switch programs {
        case .any: return nil
        case .off: return "\(name) is not run: " + (fault ?? "\(file) has run = \"off\"")
        case .only(let paths):
            if let place, paths.contains(where: { FilePlace($0) == place }) { return nil }
            let found = place.map { $0.path == name ? "" : ", which is \($0.path)," } ?? ", which was not found,"
            return "\(name)\(found) is not run: \(file) does not name it in run"
        }
    }

    /// Why a server is not asked, in words; nil where it may be.
    func refusal(ofServer server: WebServer) -> String? {
        let place = (server.host.contains(":") ? "[\(server.host)]" : server.host) + ":\(server.port)"
        switch servers {
        case .any: return nil
        case .off: return "\(place) is not asked: " + (fault ?? "\(file) has web_hooks = \"off\"")
        case .only(let allowed):
            if allowed.contains(where: { $0.matches(server) }) { return nil }
            return "\(place) is not asked: \(file) does not name it in web_hooks"
        }
    }
}
