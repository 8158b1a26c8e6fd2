import CLinuxSystem
import Glibc

private final class Work: Sendable {
    let name: String?
    let run: @Sendable () -> Void

    init(named name: String?, _ run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

/// Starts a detached thread, for work that blocks.
///
/// - Parameters:
///   - name: the name in ps and top, up to 15 bytes; nil for the name of the program.
///   - body: the work. The thread ends with it.
/// - Throws: EAGAIN if the system cannot create a thread. Then the body is not run.
public func startThread(named name: String? = nil, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let work = Unmanaged.passRetained(Work(named: name, body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { context in
            let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
            if let name = work.name { clinuxsystem_name_thread(name) }
            work.run()
            return nil
        }, work.toOpaque())
    guard error == 0 else {
        work.release()
        throw SystemError(error)
    }
    pthread_detach(thread)
}
