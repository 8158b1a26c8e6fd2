import DurableFiles
import Synchronization

/// The kernel with faults: it takes few bytes at a time, runs out of space, is interrupted, or fails to synchronize.
final class FaultyCalls: FileCalls {
    struct Faults {
        /// Most bytes taken by one write.
        var longestWrite = Int.max
        /// Bytes that fit before every write fails with `writeError`.
        var room = Int.max
        var writeError = SystemError.noSpace
        /// Calls that are interrupted by a signal before each one that is not.
        var interruptions = 0
        var synchronizeError: SystemError?
        var truncateError: SystemError?
        var renameError: SystemError?
    }

    private let kernel = LinuxFileCalls()
    private let faults: Mutex<(Faults, interrupted: Int)>

    init(_ faults: Faults) { self.faults = Mutex((faults, 0)) }

    func change(_ body: (inout Faults) -> Void) { faults.withLock { body(&$0.0) } }

    private func interruptSometimes() throws(SystemError) {
        let isInterrupted = faults.withLock { state in
            guard state.interrupted < state.0.interruptions else {
                state.interrupted = 0
                return false
            }
            state.interrupted += 1
            return true
        }
        if isInterrupted { throw .interrupted }
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        try interruptSometimes()
        return try kernel.open(path, purpose)
    }

    func close(_ descriptor: Int32) { kernel.close(descriptor) }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try interruptSometimes()
        return try kernel.read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(7)))
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try interruptSometimes()
        let (count, error) = faults.withLock { state in
            let count = min(bytes.count, state.0.longestWrite, state.0.room)
            state.0.room -= count
            return (count, state.0.writeError)
        }
        guard count > 0 else { throw error }
        return try kernel.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
    }

    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess {
        try interruptSometimes()
        return try kernel.access(descriptor)
    }

    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        if let error = faults.withLock({ $0.0.truncateError }) { throw error }
        try kernel.truncate(descriptor, to: length)
    }

    func synchronize(_ descriptor: Int32) throws(SystemError) {
        try interruptSometimes()
        if let error = faults.withLock({ $0.0.synchronizeError }) { throw error }
        try kernel.synchronize(descriptor)
    }

    func rename(_ path: String, to newPath: String) throws(SystemError) {
        if let error = faults.withLock({ $0.0.renameError }) { throw error }
        try kernel.rename(path, to: newPath)
    }

    func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) { try kernel.makeDirectory(path, mode: mode) }
    func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
}
