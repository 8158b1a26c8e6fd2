import ArgumentParser
import Daemon
import PlugClient
import PowerHistory

/// Opens the history to record into it. One that cannot be used is said, and the daemon runs without; one that another
/// process records into ends this one.
///
/// - Parameter directory: nil for the default: systemd's, else the user's.
func openHistory(_ directory: String?) throws -> PowerHistory? {
    do throws(HistoryError) {
        return try PowerHistory(directory ?? PowerHistory.defaultDirectory(), role: .recorder, complain: complain)
    } catch {
        let hint = error.hint ?? "name another directory with --history"
        if case .recorded = error.reason {
            complain("\(error)\nhint: \(hint)")
            throw ExitCode.failure
        }
        complain("\(error); \(noHistory)\nhint: \(hint)")
        return nil
    }
}

/// Nil where the history says what is wrong with it only now.
func makeRecorder(_ history: PowerHistory, on client: PlugClient) -> Recorder? {
    do throws(HistoryError) {
        return try Recorder(history, on: client.eventLoop, complain: complain)
    } catch {
        complain("\(error); \(noHistory)\nhint: \(error.hint ?? "name another directory with --history")")
        return nil
    }
}

private let noHistory = "the daemon keeps no history until it is started anew"
