import CLinuxDevices
import Glibc
import Synchronization

/// The service manager that started this program, if any, accessed as in sd_notify(3) and sd_listen_fds(3).
///
/// It stores the descriptors of driven lines, so that they keep their value during a crash and a restart. When the last
/// descriptor of a line is closed, the kernel releases the line, and its driver or the board's resistors determine the
/// level.
public final class ServiceManager: Sendable {
    /// The number of the first inherited descriptor (SD_LISTEN_FDS_START).
    static let firstDescriptor: Int32 = 3
    /// The limit of inherited descriptors; further ones are ignored.
    private static let mostDescriptors: Int32 = 64

    private let socket: String?
    /// The descriptors of stored lines that no part has claimed yet, by their names.
    private let kept: Mutex<[String: Int32]>

    /// Reads the inherited descriptors. Call it once, before any file is opened.
    public convenience init() {
        self.init(firstDescriptor: Self.firstDescriptor) { name in getenv(name).map { String(cString: $0) } }
    }

    init(firstDescriptor: Int32, variable: (String) -> String?) {
        socket = variable("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        let isForUs = variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        watchdog = variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap {
            isForUs && $0 > 0 ? .microseconds($0) : nil
        }
        var kept: [String: Int32] = [:]
        if variable("LISTEN_PID") == "\(getpid())", let count = variable("LISTEN_FDS").flatMap({ Int32($0) }) {
            let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
            for (name, index) in zip(names, 0..<min(max(count, 0), Self.mostDescriptors)) {
                let descriptor = firstDescriptor + index
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                // Other descriptors do not belong to this class.
                guard name.hasPrefix(KeptLine.prefix) else { continue }
                if let double = kept.updateValue(descriptor, forKey: String(name)) { close(double) }
            }
        }
        self.kept = Mutex(kept)
    }

    /// The time without a notification after which the manager kills the service (WATCHDOG_USEC); nil if the watchdog
    /// is off.
    public let watchdog: Duration?

    /// Sends a state to the manager: "READY=1", "WATCHDOG=1", "STOPPING=1". Does nothing without a manager.
    public func notify(_ text: String) { send(text) }

    /// Releases the stored lines that no part has claimed, after a change of the configuration. Call it when all parts
    /// exist.
    public func dropUnclaimed() {
        for name in names { drop(name) }
    }

    /// The names of the stored lines that no part has claimed yet.
    var names: [String] { kept.withLock { $0.keys.sorted() } }

    /// Returns a stored descriptor, which the caller then owns. The manager keeps its own copy.
    func take(_ name: String) -> Int32? { kept.withLock { $0.removeValue(forKey: name) } }

    /// Stores a descriptor in the manager until it is removed or the service is stopped.
    func keep(_ descriptor: Int32, as name: String) {
        // Without FDPOLL=0 the manager would drop a descriptor with a poll error, such as one that does not support
        // polling.
        send("FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", descriptor)
    }

    /// Removes a descriptor from the manager, and closes the local copy if no part has claimed it.
    func drop(_ name: String) {
        if let descriptor = take(name) { close(descriptor) }
        send("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Sends a message. Errors are ignored, because the plug must also work without the manager.
    private func send(_ text: String, _ descriptor: Int32 = -1) {
        guard let socket else { return }
        _ = clinuxdevices_notify(socket, text, descriptor)
    }
}
