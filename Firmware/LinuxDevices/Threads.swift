import CLinuxDevices
import Glibc

private final class Body {
    let name: String
    let run: () -> Void

    init(named name: String, _ run: @escaping () -> Void) {
        self.name = name
        self.run = run
    }
}

/// Starts a detached thread.
///
/// - Parameter name: the name in ps and top, up to 15 bytes.
func startThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let context = Unmanaged.passRetained(Body(named: name, body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { context in
            let body = Unmanaged<Body>.fromOpaque(context!).takeRetainedValue()
            clinuxdevices_name_thread(body.name)
            body.run()
            return nil
        }, context.toOpaque())
    guard error == 0 else {
        context.release()
        throw SystemError(number: error)
    }
    pthread_detach(thread)
}

/// Calls `body` once after a delay, on a separate thread. It is meant for rare, short tasks, such as ending a relay's
/// pulse.
public func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = delay.components
    let run: @Sendable () -> Void = {
        var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
        body()
    }
    // If no thread can be created, the delay blocks the caller: a pulse that never ends would burn a coil.
    do { try startThread(named: "delay", run) } catch { run() }
}
