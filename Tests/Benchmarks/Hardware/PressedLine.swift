import Foundation
import LinuxSystem
import PlugTransport
import ProtocolCore

/// A controller that follows a plug and presses its button through the file of a simulated line.
enum PressedLine {
    /// The time for which the button is held, and the time between presses. Both are longer than the debouncing.
    private static let pause = Duration.milliseconds(30)

    /// Prints for each press the nanoseconds from the write of the release to the arrival of the relay's event.
    ///
    /// - Parameters:
    ///   - name: the name of an unpaired plug on loopback.
    ///   - state: the plug's state directory, which has its setup code.
    ///   - pull: the file that pulls the line; low means pressed.
    static func run(plug name: String, state: String, pull: String, count: Int) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "presses-\(getpid())").path
        var events = try await FollowedPlugEvents(
            of: name, state: state, directory: directory, as: TransportIdentity(), followsState: false)
        let line = open(pull, O_WRONLY)
        guard line >= 0 else { throw BenchmarkError("cannot open \(pull): \(String(cString: strerror(errno)))") }
        var (done, again) = (0, 0)
        while done < count {
            try set(line, "pull-down")
            try await Task.sleep(for: pause)
            let released = BootClock.now
            try set(line, "pull-up")
            if try await turnedOver(&events) {
                print((BootClock.now - released).wholeNanoseconds)
                done += 1
            } else {
                again += 1
                guard again <= count / 10 + 1 else {
                    throw BenchmarkError("too many presses became long, because the machine pauses")
                }
            }
            try await Task.sleep(for: pause)
        }
        await events.stop()
    }

    /// Returns true after the relay's event, and false after a long press. A short press becomes long if the machine
    /// pauses.
    private static func turnedOver(_ events: inout FollowedPlugEvents) async throws -> Bool {
        while true {
            switch try await events.next().kind {
            case .relayChanged: return true
            case .buttonPressed(.long): return false
            case _: continue
            }
        }
    }

    private static func set(_ line: Int32, _ way: String) throws {
        guard pwrite(line, way, way.utf8.count, 0) == way.utf8.count else {
            throw BenchmarkError("cannot write to the file of the line")
        }
    }
}
