import ArgumentParser
import Daemon
import LinuxSystem

/// The default directory: in `$STATE_DIRECTORY` for a service, otherwise in the user's state directory.
var usualRuleStore: String { (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/daemon" }

/// Opens the directory of the rules' durable state. If it is unusable, that is reported and the result is nil: the
/// rules run without it. If another process uses it, `ExitCode.failure` is thrown.
///
/// - Parameter directory: Nil for the default: systemd's state directory, otherwise the user's.
func openRuleStore(_ directory: String?) throws -> RuleStore? {
    let promise =
        "until it is usable, a crash may lose a command, or an event from the time when the daemon did not run"
    let directory = directory ?? usualRuleStore
    do throws(FileError) {
        return try RuleStore(directory, complain: printError)
    } catch {
        if case .held = error.reason {
            printError("\(error)\nhint: \(error.hint ?? "choose a different directory with --state")")
            throw ExitCode.failure
        }
        printError("\(error); \(promise)\nhint: \(error.hint ?? "choose a different directory with --state")")
        return nil
    }
}
