import LinuxSystem
import Synchronization

/// The kernel's file calls, with faults for paths with given prefixes, and with counts of replaced files and written
/// bytes.
final class SelectiveDisk: FileCalls {
    struct State {
        /// The errors of calls that change files, by prefix of the path.
        var faults: [String: SystemError] = [:]
        /// The prefix of the files that are counted.
        var counted = ""
        var filesReplaced = 0
        var bytesWritten = 0
        var opened: [Int32: String] = [:]
    }

    private let kernel = LinuxFileCalls()
    private let state = Mutex(State())

    /// Starts to count the writes to files whose paths begin with this prefix.
    func count(_ prefix: String) {
        state.withLock { ($0.counted, $0.filesReplaced, $0.bytesWritten) = (prefix, 0, 0) }
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    var counts: State { state.withLock { $0 } }

    private func check(_ path: String) throws(SystemError) {
        let error = state.withLock { state in state.faults.first { path.hasPrefix($0.key) }?.value }
        if let error { throw error }
    }

    private func path(of descriptor: Int32) -> String { state.withLock { $0.opened[descriptor] ?? "" } }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        switch purpose {
        case .reading, .readingSecret, .directory: break
        case .creating, .appending, .locking: try check(path)
        }
        let descriptor = try kernel.open(path, purpose)
        state.withLock { $0.opened[descriptor] = path }
        return descriptor
    }

    func close(_ descriptor: Int32) { kernel.close(descriptor) }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try kernel.read(descriptor, into: buffer)
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let path = path(of: descriptor)
        try check(path)
        state.withLock { state in
            if path.hasPrefix(state.counted) { state.bytesWritten += bytes.count }
        }
        return try kernel.write(descriptor, bytes)
    }

    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
    func link(_ path: String, to newPath: String) throws(SystemError) {
        try check(newPath)
        try kernel.link(path, to: newPath)
    }

    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) {
        try kernel.setMode(descriptor, to: mode)
    }

    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try check(path(of: descriptor))
        try kernel.truncate(descriptor, to: length)
    }

    func synchronize(_ descriptor: Int32) throws(SystemError) { try kernel.synchronize(descriptor) }

    func rename(_ path: String, to newPath: String) throws(SystemError) {
        try check(newPath)
        try kernel.rename(path, to: newPath)
        state.withLock { state in if newPath.hasPrefix(state.counted) { state.filesReplaced += 1 } }
    }

    func remove(_ path: String) throws(SystemError) {
        // A file can be removed with every simulated fault except a read-only file system.
        do throws(SystemError) { try check(path) } catch  where error == .readOnly { throw error } catch {}
        try kernel.remove(path)
    }

    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        try check(path)
        try kernel.makeDirectory(path, mode: mode)
    }

    func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
    func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
}
