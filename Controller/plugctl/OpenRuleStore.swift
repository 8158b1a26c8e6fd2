import ArgumentParser
import Daemon
import DurableFiles
import Foundation

/// Opens the directory in which rules keep what must survive their process. One that cannot be used is said, and the rules
/// run without; one that another process has ends this one.
///
/// - Parameter directory: nil for the default: systemd's, else the user's.
func openRuleStore(_ directory: String?) throws -> RuleStore? {
    let promise = "until it can be used, being killed may lose a command or a press that came while nothing ran"
    guard let directory = directory ?? defaultRuleDirectory() else {
        complain("no directory to keep the rules' state in; \(promise)\nhint: name one with --state")
        return nil
    }
    do throws(FileError) {
        return try RuleStore(directory, complain: complain)
    } catch {
        if case .held = error.reason {
            complain("\(error)\nhint: \(error.hint ?? "choose another directory with --state")")
            throw ExitCode.failure
        }
        complain("\(error); \(promise)\nhint: \(error.hint ?? "name another directory with --state")")
        return nil
    }
}

private func defaultRuleDirectory() -> String? {
    let environment = ProcessInfo.processInfo.environment
    // systemd names several where the unit does; the first is the daemon's.
    if let directory = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(directory) }
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/smartplug/daemon" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/.local/state/smartplug/daemon"
}
