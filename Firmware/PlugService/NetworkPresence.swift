import LinuxNetwork
import PlugTransport

/// The plug on the network: its listener and its announcement.
struct NetworkPresence {
    let discovery: Discovery
    let listener: Listener
    /// The announcement; nil before it exists.
    private(set) var registration: Registration?
    /// The last requested name.
    private var requestedName: String?

    init(_ discovery: Discovery, _ listener: Listener) {
        self.discovery = discovery
        self.listener = listener
    }

    /// Sets the announcement with its name.
    mutating func announce(_ registration: Registration, as name: String) {
        self.registration = registration
        requestedName = name
    }

    /// Requests a name. Returns false if the plug has this name and no change to a different name is in progress.
    mutating func request(_ name: String, current: String) -> Bool {
        guard name != requestedName || name != current else { return false }
        requestedName = name
        return true
    }
}
