internal import Foundation
internal import Synchronization

extension PacketCapture {
    /// Writes the capture to a file that Wireshark and tcpdump open; what stood there is replaced.
    public func write(to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}

/// Where runs leave their captures.
public struct CaptureFolder: Sendable {
    private static let runs = Atomic(0)
    private let path: String

    /// The folder that SMARTPLUG_CAPTURE names, which must be there; nil where it names none.
    public init?(environment: [String: String]) {
        guard let path = environment["SMARTPLUG_CAPTURE"], !path.isEmpty else { return nil }
        self.path = path
    }

    /// Of this process's environment.
    public static let ofProcess = CaptureFolder(environment: ProcessInfo.processInfo.environment)

    /// `HouseHost-seed-7-1.pcap` is a run with hosts of that type; the last number tells several runs of a seed apart.
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
