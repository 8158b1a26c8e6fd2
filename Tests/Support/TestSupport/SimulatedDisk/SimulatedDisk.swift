internal import Glibc
public import LinuxSystem
internal import ProtocolCore
internal import Synchronization

/// The files of one simulated board: flash that keeps synchronized data, and memory that is lost in a power cut.
///
/// The disk can have faults, can be full or read-only, and can break down at any byte of a write, by a power cut or a
/// kill of the process. After that every call that can throw fails until ``boot()`` or ``startProcess()``. The seed
/// decides which data survives.
public final class SimulatedDisk: FileCalls {
    /// The two kinds of storage.
    public enum Area: Hashable, Sendable, CaseIterable { case flash, memory }

    /// An event that ends the process during its work.
    public enum Breakdown: Hashable, Sendable { case powerCut, kill }

    /// The faults of one area. Errors persist until they are removed.
    public struct Faults: Hashable, Sendable {
        /// The limit of bytes per write and per read.
        public var longestTransfer = Int.max
        /// The number of bytes that can be written before every write fails.
        public var room = Int.max
        /// Makes every write, every change of names and every open for creating, appending or locking throw `readOnly`.
        /// `truncate` still works.
        public var isReadOnly = false
        /// The number of interrupted calls (EINTR) before each call that succeeds.
        public var interruptions = 0
        /// The error of every read, or nil.
        public var readError: SystemError?
        /// The error of every `synchronize`, or nil.
        public var synchronizeError: SystemError?
        /// The error of every `truncate`, or nil.
        public var truncateError: SystemError?
        /// The error of every `rename` to this area, or nil.
        public var renameError: SystemError?
        /// Ignores `synchronize`, so that a test can prove that it detects a missing synchronization.
        public var ignoresSynchronize = false

        /// Creates the value of an area without faults.
        public init() {}
    }

    private struct OpenFile: Sendable {
        enum Target: Hashable, Sendable {
            case directory(String)
            case file(Int)
        }

        let target: Target
        let area: Area
        var position = 0
    }

    private struct State: Sendable {
        var disk: DiskState
        var open: [Int32: OpenFile] = [:]
        /// Descriptors are never reused, so that closing a descriptor of a killed process does not close a file of the
        /// next process.
        var lastDescriptor: Int32 = 2
        /// The descriptor that holds the lock of a file or directory.
        var locks: [OpenFile.Target: Int32] = [:]
        var faults: [Area: Faults] = [:]
        var interrupted = 0
        var armed: (breakdown: Breakdown, stepsLeft: Int)?
        var breakdown: Breakdown?
    }

    private let state: Mutex<State>

    /// Creates an empty disk.
    ///
    /// - Parameters:
    ///   - seed: decides which data survives a power cut.
    ///   - memory: the directory that is in memory; it always exists.
    public init(seed: UInt64 = 0, memory: String = "/run") {
        state = Mutex(State(disk: DiskState(seed: seed, memory: memory)))
    }

    // MARK: Breaking it

    /// Breaks down after this number of steps: each call and each written byte is one step.
    public func breakDown(_ breakdown: Breakdown, afterSteps steps: Int) {
        state.withLock { $0.armed = (breakdown, steps) }
    }

    /// The event that ended the process since its start, or nil. Calls fail after it.
    public var breakdown: Breakdown? {
        state.withLock { state in
            Self.breakDownIfDue(&state)
            return state.breakdown
        }
    }

    /// Restores the power: data in memory is lost, and the seed decides about data that was not synchronized.
    public func boot() {
        state.withLock { $0.disk.losePower() }
        startProcess()
    }

    /// Starts the process again, without its predecessor's descriptors and locks.
    public func startProcess() {
        state.withLock { state in
            state.open = [:]
            state.locks = [:]
            state.armed = nil
            state.breakdown = nil
        }
    }

    /// Changes the faults of an area.
    public func change(_ area: Area = .flash, _ body: (inout Faults) -> Void) {
        state.withLock { body(&$0.faults[area, default: Faults()]) }
    }

    /// Corrupts a file: flips a bit, removes its end, or replaces all of it. Does nothing if the file does not exist.
    public func corrupt(_ path: String) { state.withLock { $0.disk.corrupt(path) } }

    /// The paths of all files, sorted.
    public var files: [String] {
        state.withLock { $0.disk.names.filter { $0.value != .directory }.keys.sorted() }
    }

    // MARK: The calls

    public func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        try call(path) { (state, faults) throws(SystemError) in
            let target: OpenFile.Target
            switch (purpose, state.disk.names[path]) {
            case (.directory, _):
                guard state.disk.isDirectory(path) else { throw .notFound }
                target = .directory(path)
            case (.reading, nil), (.readingSecret, nil): throw .notFound
            case (.reading, .file(let content)), (.readingSecret, .file(let content)): target = .file(content)
            case (.creating, .some): throw .alreadyExists
            case (_, .directory): throw .alreadyExists
            case (.appending, .file(let content)), (.locking, .file(let content)):
                guard !faults.isReadOnly else { throw .readOnly }
                target = .file(content)
            case (.creating, nil), (.appending, nil), (.locking, nil):
                guard !faults.isReadOnly else { throw .readOnly }
                target = .file(try state.disk.makeFile(path))
            }
            state.lastDescriptor += 1
            state.open[state.lastDescriptor] = OpenFile(target: target, area: state.disk.area(of: path))
            return state.lastDescriptor
        }
    }

    public func close(_ descriptor: Int32) {
        state.withLock { state in
            state.open[descriptor] = nil
            state.locks = state.locks.filter { $0.value != descriptor }
        }
    }

    public func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let most = buffer.count
        let bytes = try call(descriptor) { (state, faults, content) throws(SystemError) in
            if let error = faults.readError { throw error }
            let position = state.open[descriptor]!.position
            let rest = state.disk.contents[content]!.now.dropFirst(position)
            let bytes = Array(rest.prefix(min(most, faults.longestTransfer)))
            state.open[descriptor]!.position += bytes.count
            return bytes
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    public func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let bytes = Array(bytes)
        return try call(descriptor) { (state, faults, content) throws(SystemError) in
            guard !faults.isReadOnly else { throw .readOnly }
            let count = min(bytes.count, faults.longestTransfer, faults.room, state.armed?.stepsLeft ?? .max)
            guard count > 0 || bytes.isEmpty else { throw faults.room == 0 ? .noSpace : .inputOutput }
            state.armed?.stepsLeft -= count
            let area = state.open[descriptor]!.area
            if faults.room < .max { state.faults[area]!.room -= count }
            state.disk.write(Array(bytes.prefix(count)), to: content)
            return count
        }
    }

    public func length(_ descriptor: Int32) throws(SystemError) -> Int {
        try call(descriptor) { (state, _, content) throws(SystemError) in state.disk.contents[content]!.now.count }
    }

    /// Every file is a regular one that only this process's user may access.
    public func access(_ descriptor: Int32) throws(SystemError) -> FileAccess {
        try call(descriptor) { (_, _, _) throws(SystemError) in FileAccess(mode: 0o100600, owner: geteuid()) }
    }

    /// Only checks the descriptor, because the disk does not store owners and modes.
    public func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) {
        try call(descriptor) { (_, _, _) throws(SystemError) in }
    }

    public func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try call(descriptor) { (state, faults, content) throws(SystemError) in
            if let error = faults.truncateError { throw error }
            state.disk.truncate(content, to: length)
        }
    }

    public func synchronize(_ descriptor: Int32) throws(SystemError) {
        let directory: String? = state.withLock { state in
            guard case .directory(let path) = state.open[descriptor]?.target else { return nil }
            return path
        }
        if let directory {
            try call(directory) { (state, faults) throws(SystemError) in
                if let error = faults.synchronizeError { throw error }
                if !faults.ignoresSynchronize { state.disk.synchronizeDirectory(directory) }
            }
        } else {
            try call(descriptor) { (state, faults, content) throws(SystemError) in
                if let error = faults.synchronizeError { throw error }
                if !faults.ignoresSynchronize { state.disk.synchronize(content) }
            }
        }
    }

    public func rename(_ path: String, to newPath: String) throws(SystemError) {
        try call(newPath) { (state, faults) throws(SystemError) in
            if let error = faults.renameError { throw error }
            guard !faults.isReadOnly else { throw .readOnly }
            try state.disk.rename(path, to: newPath)
        }
    }

    public func link(_ path: String, to newPath: String) throws(SystemError) {
        try call(newPath) { (state, faults) throws(SystemError) in
            guard !faults.isReadOnly else { throw .readOnly }
            try state.disk.link(path, to: newPath)
        }
    }

    public func remove(_ path: String) throws(SystemError) {
        try call(path) { (state, faults) throws(SystemError) in
            guard !faults.isReadOnly else { throw .readOnly }
            try state.disk.remove(path)
        }
    }

    public func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        try call(path) { (state, faults) throws(SystemError) in
            guard !state.disk.isDirectory(path) else { throw .alreadyExists }
            guard !faults.isReadOnly else { throw .readOnly }
            try state.disk.makeDirectory(path)
        }
    }

    public func isDirectory(_ path: String) -> Bool { state.withLock { $0.disk.isDirectory(path) } }

    public func names(in directory: String) throws(SystemError) -> [String] {
        try call(directory) { (state, _) throws(SystemError) in
            guard state.disk.isDirectory(directory) else { throw .notFound }
            let inside = directory + "/"
            return state.disk.names.keys.filter { $0.hasPrefix(inside) && !$0.dropFirst(inside.count).contains("/") }
                .map { String($0.dropFirst(inside.count)) }.sorted()
        }
    }

    public func lock(_ descriptor: Int32) throws(SystemError) {
        try step { (state, _) throws(SystemError) in
            guard let target = state.open[descriptor]?.target else { throw .badDescriptor }
            guard state.locks[target, default: descriptor] == descriptor else { throw .wouldBlock }
            state.locks[target] = descriptor
        } in: {
            $0.open[descriptor]?.area ?? .flash
        }
    }

    public func unlock(_ descriptor: Int32) {
        state.withLock { state in state.locks = state.locks.filter { $0.value != descriptor } }
    }

    // MARK: Steps

    private static func breakDownIfDue(_ state: inout State) {
        guard let armed = state.armed, armed.stepsLeft <= 0 else { return }
        state.breakdown = armed.breakdown
        state.armed = nil
    }

    /// Performs one step, which fails if the disk has broken down or a signal interrupts it.
    private func call<Value: Sendable>(
        _ path: String, _ body: (inout State, Faults) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try step(body) { $0.disk.area(of: path) }
    }

    /// Performs one step on an open file.
    private func call<Value: Sendable>(
        _ descriptor: Int32, _ body: (inout State, Faults, _ content: Int) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try step { (state, faults) throws(SystemError) in
            guard case .file(let content) = state.open[descriptor]?.target else { throw SystemError.badDescriptor }
            return try body(&state, faults, content)
        } in: {
            $0.open[descriptor]?.area ?? .flash
        }
    }

    private func step<Value: Sendable>(
        _ body: (inout State, Faults) throws(SystemError) -> Value, in area: (State) -> Area
    ) throws(SystemError) -> Value {
        let result: Result<Value, SystemError> = state.withLock { state in
            Self.breakDownIfDue(&state)
            guard state.breakdown == nil else { return .failure(.inputOutput) }
            let faults = state.faults[area(state)] ?? Faults()
            state.armed?.stepsLeft -= 1
            guard state.interrupted >= faults.interruptions else {
                state.interrupted += 1
                return .failure(.interrupted)
            }
            state.interrupted = 0
            do throws(SystemError) {
                return .success(try body(&state, faults))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension SystemError {
    /// EBADF: the descriptor belongs to an ended process, or not to a file.
    fileprivate static let badDescriptor = SystemError(9)
}
