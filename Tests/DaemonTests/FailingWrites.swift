import LinuxSystem
import Synchronization

/// The kernel's file calls. While the test declares the disk full, each write fails.
final class FailingWrites: FileCalls {
    private let kernel = LinuxFileCalls()
    private let isFull = Mutex(false)

    /// True while the disk is full.
    var fails: Bool {
        get { isFull.withLock { $0 } }
        set { isFull.withLock { $0 = newValue } }
    }

    /// Creates a directory at the path of the rules' first reserve file. The rules then have no reserve when the
    /// disk is full.
    func preventReserve(in directory: String) throws {
        try FileStore(calls: kernel).makeDirectories(directory + "/reserve.0")
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        if fails { throw .noSpace }
        return try kernel.write(descriptor, bytes)
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 { try kernel.open(path, purpose) }
    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try kernel.read(descriptor, into: buffer)
    }
    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) { try kernel.setMode(descriptor, to: mode) }
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try kernel.truncate(descriptor, to: length)
    }
    func synchronize(_ descriptor: Int32) throws(SystemError) { try kernel.synchronize(descriptor) }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
    func link(_ path: String, to newPath: String) throws(SystemError) { try kernel.link(path, to: newPath) }
    func rename(_ path: String, to newPath: String) throws(SystemError) { try kernel.rename(path, to: newPath) }
    func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) { try kernel.makeDirectory(path, mode: mode) }
    func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
    func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
}
