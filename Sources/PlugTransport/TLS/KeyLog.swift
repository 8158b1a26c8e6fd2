public import DurableFiles
import NIOCore
import Synchronization

/// A file that gets the secrets of each connection, in the format that packet analysers read (`SSLKEYLOGFILE`). Who has it can
/// read everything that was said on them: it is for a controller's user who asked for it, and a plug has none.
public final class KeyLog: Sendable {
    private let file: Mutex<AppendingFile>

    /// Adds to the file, or makes it with mode 0600. One that others may read or write is refused.
    public init(_ path: String, store: FileStore = FileStore()) throws(FileError) {
        file = Mutex(try AppendingFile(path, isSecret: true, store: store))
    }

    /// A line that cannot be written is missing from the trace and from nothing else, so the connection goes on.
    func write(_ line: ByteBuffer) {
        file.withLock { try? $0.append(Array(line.readableBytesView)) }
    }
}
