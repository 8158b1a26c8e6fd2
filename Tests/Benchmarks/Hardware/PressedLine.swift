import Foundation
import LinuxClocks
import PlugTransport
import ProtocolCore

/// A controller that follows a plug and presses its button by the file of a simulated line, as a finger would.
enum PressedLine {
    /// How long it is held, and left alone afterwards: more than any debouncing takes.
    private static let pause = Duration.milliseconds(30)

    /// Prints for each press the nanoseconds from before the release is written to when the event that the relay turned over was heard.
    ///
    /// - Parameters:
    ///   - name: of a plug on loopback that may be paired.
    ///   - state: the directory in which it keeps its setup code.
    ///   - pull: the file that pulls the line; low is pressed.
    static func run(plug name: String, state: String, pull: String, count: Int) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "presses-\(getpid())").path
        var events = try await FollowedPlugEvents(
            of: name, state: state, directory: directory, as: TransportIdentity(), followsState: false)
        let line = open(pull, O_WRONLY)
        guard line >= 0 else { throw Complaint("cannot open \(pull): \(String(cString: strerror(errno)))") }
        for _ in 0..<count {
            try set(line, "pull-down")
            try await Task.sleep(for: pause)
            let released = BootClock.now
            try set(line, "pull-up")
            while true {
                if case .relayChanged = try await events.next().kind { break }
            }
            print((BootClock.now - released).wholeNanoseconds)
            try await Task.sleep(for: pause)
        }
        await events.stop()
    }

    private static func set(_ line: Int32, _ way: String) throws {
        guard pwrite(line, way, way.utf8.count, 0) == way.utf8.count else {
            throw Complaint("the line cannot be pulled")
        }
    }
}
