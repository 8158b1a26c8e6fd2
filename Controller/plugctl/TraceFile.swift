import LinuxNetwork
import LinuxSystem
import Presentation

/// A file of received packets.
struct TraceFile: @unchecked Sendable {
    /// The maximum size of a file in bytes. Prevents a forgotten trace from filling the disk.
    private static let limit = 1 << 30

    /// Only the task that prints the packets uses the file, so the type is safe without a lock.
    private let file: AppendingFile

    init(_ path: String) throws {
        do throws(FileError) {
            file = try AppendingFile(path, durability: .process)
            try file.truncate(to: 0)
            try file.append(PacketTrace.header)
        } catch {
            throw CLIError(error)
        }
    }

    func add(_ packet: HeardPacket) throws {
        let record = PacketTrace.record(packet)
        guard file.length + record.count <= Self.limit else {
            throw CLIError(
                "\(file.path) has reached the limit of 1 GiB\nhint: the file is complete up to here; use --for to stop earlier"
            )
        }
        do throws(FileError) { try file.append(record) } catch { throw CLIError(error) }
    }
}
