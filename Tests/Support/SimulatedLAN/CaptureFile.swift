internal import Foundation
internal import Synchronization

extension PacketCapture {
    /// Writes the capture to a file for Wireshark and tcpdump. An existing file is replaced.
    public func write(to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}

/// The folder for the captures of runs.
public struct CaptureFolder: Sendable {
    private static let runs = Atomic(0)
    private let path: String

    /// Uses the existing folder in SMARTPLUG_CAPTURE, or returns nil if the variable is empty or not set.
    public init?(environment: [String: String]) {
        guard let path = environment["SMARTPLUG_CAPTURE"], !path.isEmpty else { return nil }
        self.path = path
    }

    /// The folder in this process's environment.
    public static let ofProcess = CaptureFolder(environment: ProcessInfo.processInfo.environment)

    /// Stores a capture. The name contains the type of the hosts, the seed and a number that is unique in the process,
    /// such as `HouseHost-seed-7-1.pcap`.
    func keep(_ capture: PacketCapture, hosts: String, seed: UInt64) {
        let run = Self.runs.add(1, ordering: .relaxed).newValue
        do {
            try capture.write(to: "\(path)/\(hosts)-seed-\(seed)-\(run).pcap")
        } catch {
            preconditionFailure(
                "SMARTPLUG_CAPTURE is \"\(path)\"; a folder that can be written to is expected: \(error)")
        }
    }
}
