import ArgumentParser
import Daemon
import DurableFiles

/// Under `$STATE_DIRECTORY` for a service, else where a person's programs keep their state.
var usualRuleStore: String { (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/daemon" }

/// Opens the directory in which rules keep what must survive their process. One that cannot be used is said, and the rules
/// run without; one that another process has ends this one.
///
/// - Parameter directory: nil for the default: systemd's, else the user's.
func openRuleStore(_ directory: String?) throws -> RuleStore? {
    let promise = "until it can be used, being killed may lose a command or a press that came while nothing ran"
    let directory = directory ?? usualRuleStore
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
