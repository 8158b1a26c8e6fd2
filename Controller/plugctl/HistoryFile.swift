import ArgumentParser
import ConfigurationFiles
import DurableFiles
import Foundation
import HistoryDelivery
import PowerHistory

/// The file with the receivers of the history.
enum HistoryFile {
    /// Returns nil if the file is missing. An invalid file is reported, and the history is not delivered.
    static func settings() -> HistorySettings? {
        do throws(Complaint) {
            return try readUsualSettings("history.toml", limit: HistorySettings.fileLimit) {
                bytes, path throws(ConfigurationError) in
                try HistorySettings(bytes, file: path, home: UserDirectories.home)
            }
        } catch {
            complainOfFile("\(error)\nhint: put it right and start again; until then the history is kept here alone")
            return nil
        }
    }
}

/// Opens the delivery of the history; nil, with a report, if it cannot be opened.
///
/// - Parameter directory: The directory of the state that survives the process.
func openDelivery(_ settings: HistorySettings, of history: PowerHistory?, _ directory: String) -> HistoryDelivery? {
    guard settings.database != nil || settings.remoteWrite != nil else {
        complain("nobody else gets the history\nhint: history.toml has neither [postgresql] nor [remote_write]")
        return nil
    }
    guard let history else {
        complain(
            "nobody else gets the history: the daemon keeps none\nhint: see what it said before, or leave out --no-history"
        )
        return nil
    }
    do {
        return try HistoryDelivery(
            settings, of: history, state: directory, timeZone: TimeZone.current.identifier, complain: { complain($0) })
    } catch {
        complain("nobody else gets the history: \(error)\nhint: see the files in \(directory)")
        return nil
    }
}

extension History {
    struct SchemaCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the SQL that makes the tables and views of the history in a PostgreSQL database.",
            discussion: """
                A daemon with a history.toml makes them itself where its role may create a schema. Otherwise let who may do that do it: all \
                daemons then need roles that are members of the owner's.

                Example: plugctl history schema | psql --single-transaction smartplug
                """)

        func run() { Output.line(DatabaseSchema.text) }
    }
}
