public import LinuxSystem
import NIOCore
import Synchronization

/// A file with the secrets of each connection, in the format of packet analyzers (`SSLKEYLOGFILE`). It allows its
/// reader to decrypt the connections. A controller writes it only on request of its user; a plug never does.
public final class KeyLog: Sendable {
    private let file: Mutex<AppendingFile>

    /// Opens the file for appending, or creates it with mode 0600.
    ///
    /// - Throws: ``FileError`` if the file cannot be opened, or other users may read or write it.
    public init(_ path: String, store: FileStore = FileStore()) throws(FileError) {
        file = Mutex(try AppendingFile(path, isSecret: true, store: store))
    }

    /// Appends a line. If that fails, the line is missing in the file, and the connection continues.
    func write(_ line: ByteBuffer) {
        file.withLock { try? $0.append(Array(line.readableBytesView)) }
    }
}
