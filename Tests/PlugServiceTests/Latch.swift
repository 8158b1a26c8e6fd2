import Dispatch
import LinuxSystem
import Metering
import PlugHardware
import Synchronization

/// Blocks threads until a test opens it.
final class Latch: Sendable {
    private struct State {
        var isShut = false
        var stopped = 0
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    /// Makes `pass()` block its caller until `open()` is called.
    func shut() { state.withLock { $0.isShut = true } }

    func open() {
        let stopped = state.withLock { state in
            state.isShut = false
            defer { state.stopped = 0 }
            return state.stopped
        }
        for _ in 0..<stopped { gate.signal() }
    }

    /// Returns at once if the latch is open. Blocks the calling thread while the latch is shut.
    func pass() {
        let isStopped = state.withLock { state in
            guard state.isShut else { return false }
            state.stopped += 1
            state.watcher?.resume()
            state.watcher = nil
            return true
        }
        if isStopped { gate.wait() }
    }

    func untilSomebodyIsStopped() async {
        await withCheckedContinuation { watcher in
            state.withLock { state in
                if state.stopped > 0 { watcher.resume() } else { state.watcher = watcher }
            }
        }
    }

    var stopped: Int { state.withLock { $0.stopped } }
}

/// Flash whose calls of fsync wait while the latch is shut.
struct HangingFlash: FileCalls {
    let latch: Latch
    private let kernel = LinuxFileCalls()

    init(_ latch: Latch) { self.latch = latch }

    func synchronize(_ descriptor: Int32) throws(SystemError) {
        latch.pass()
        try kernel.synchronize(descriptor)
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 { try kernel.open(path, purpose) }
    func close(_ descriptor: Int32) { kernel.close(descriptor) }
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try kernel.read(descriptor, into: buffer)
    }
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try kernel.write(descriptor, bytes)
    }
    func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) { try kernel.setMode(descriptor, to: mode) }
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try kernel.truncate(descriptor, to: length)
    }
    func rename(_ path: String, to newPath: String) throws(SystemError) { try kernel.rename(path, to: newPath) }
    func link(_ path: String, to newPath: String) throws(SystemError) { try kernel.link(path, to: newPath) }
    func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        try kernel.makeDirectory(path, mode: mode)
    }
    func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
    func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
    func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
    func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
}

/// A meter whose measurements wait while the latch is shut, as on a stuck bus.
final class StuckMeter: PowerMeter {
    let latch: Latch
    private let asked = Atomic(0)

    init(_ latch: Latch) { self.latch = latch }

    var timesAsked: Int { asked.load(ordering: .relaxed) }
    var counters: MeterCounters { MeterCounters() }

    func measure() throws(HardwareFault) -> Measurement {
        asked.add(1, ordering: .relaxed)
        latch.pass()
        return Measurement(deciwatts: 600)
    }
}
