import ArgumentParser
import Daemon
import PlugClient
import PowerHistory

/// Opens the history for recording. If it is unusable, that is reported and the result is nil: the daemon runs without
/// a history. If another process is recording into it, `ExitCode.failure` is thrown.
///
/// - Parameter directory: Nil for the default: systemd's state directory, otherwise the user's.
func openHistory(_ directory: String?) throws -> PowerHistory? {
    do throws(HistoryError) {
        return try PowerHistory(directory ?? PowerHistory.defaultDirectory(), role: .recorder, complain: printError)
    } catch {
        let hint = error.hint ?? "choose a different directory with --history"
        if case .recorded = error.reason {
            printError("\(error)\nhint: \(hint)")
            throw ExitCode.failure
        }
        printError("\(error); \(noHistory)\nhint: \(hint)")
        return nil
    }
}

/// Creates the recorder; nil, with a report, if the history turns out to be unusable.
func makeRecorder(_ history: PowerHistory, on client: PlugClient) -> Recorder? {
    do throws(HistoryError) {
        return try Recorder(history, on: client.eventLoop, complain: printError)
    } catch {
        printError("\(error); \(noHistory)\nhint: \(error.hint ?? "choose a different directory with --history")")
        return nil
    }
}

private let noHistory = "the daemon records no history until it is restarted"
