internal import Foundation

extension PacketCapture {
    /// Writes the capture to a file that Wireshark and tcpdump open; what stood there is replaced.
    public func write(to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
