import CLinuxDevices
import Glibc
import Synchronization

/// The service manager that started this program, spoken to as sd_notify(3) and sd_listen_fds(3) say, where there is one.
///
/// It keeps the descriptors of lines that are driven, so that they keep their value over a crash and a restart: a line whose last
/// descriptor is closed falls back to what the board's resistors make of it.
public final class ServiceManager: Sendable {
    /// Of the first descriptor that is handed over (SD_LISTEN_FDS_START).
    static let firstDescriptor: Int32 = 3
    /// More than that no manager hands over to a plug; it stops a count that cannot be true.
    private static let mostDescriptors: Int32 = 64

    private let socket: String?
    /// Descriptors of lines that the manager kept and that nobody has taken yet, by their names.
    private let kept: Mutex<[String: Int32]>

    /// Takes what the manager handed over. To be called once, before anything is opened.
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
                // Others are not ours to touch.
                guard name.hasPrefix(KeptLine.prefix) else { continue }
                if let double = kept.updateValue(descriptor, forKey: String(name)) { close(double) }
            }
        }
        self.kept = Mutex(kept)
    }

    /// The manager kills a service that it does not hear of for so long (WATCHDOG_USEC); nil: it does not.
    public let watchdog: Duration?

    /// Tells the manager how this program is: "READY=1", "WATCHDOG=1", "STOPPING=1". Without a manager nothing happens.
    public func notify(_ text: String) { send(text) }

    /// Lets go of the lines that were kept and that nobody has taken: the configuration has changed. To be called when all parts
    /// are there.
    public func dropUnclaimed() {
        for name in names { drop(name) }
    }

    /// Of what nobody has taken yet.
    var names: [String] { kept.withLock { $0.keys.sorted() } }

    /// The descriptor is the caller's from now on; the manager goes on keeping its own.
    func take(_ name: String) -> Int32? { kept.withLock { $0.removeValue(forKey: name) } }

    /// Makes the manager keep a descriptor until it is told otherwise or the service has stopped for good.
    func keep(_ descriptor: Int32, as name: String) {
        // The manager would let go of a descriptor that its poll calls broken, such as one that cannot be waited for.
        send("FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", descriptor)
    }

    /// Makes the manager let go of it, and does so here if nobody has taken it.
    func drop(_ name: String) {
        if let descriptor = take(name) { close(descriptor) }
        send("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// A manager that does not listen is no reason for a plug to do less.
    private func send(_ text: String, _ descriptor: Int32 = -1) {
        guard let socket else { return }
        _ = clinuxdevices_notify(socket, text, descriptor)
    }
}
