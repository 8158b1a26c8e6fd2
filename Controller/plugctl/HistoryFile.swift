import ArgumentParser
import Foundation
import HistoryDelivery
import PowerHistory

/// The file with the receivers of the history.
enum HistoryFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and the history is not delivered.
    static func settings() -> HistorySettings? {
        daemonSettings(
            "history.toml", limit: HistorySettings.fileLimit,
            untilCorrected: "the history is kept only on this machine",
            HistorySettings.init(_:file:home:))
    }
}

/// Opens the delivery of the history; nil, with a report, if it cannot be opened.
///
/// - Parameter directory: The directory for state that must survive a restart.
func openDelivery(_ settings: HistorySettings, of history: PowerHistory?, _ directory: String) -> HistoryDelivery? {
    guard settings.database != nil || settings.remoteWrite != nil else {
        printError(
            "the history is not exported: history.toml has neither [postgresql] nor [remote_write]\nhint: add one of these tables"
        )
        return nil
    }
    guard let history else {
        printError(
            "the history is not exported: the daemon records no history\nhint: omit --no-history, or see the previous messages"
        )
        return nil
    }
    do {
        return try HistoryDelivery(
            settings, of: history, state: directory, timeZone: TimeZone.current.identifier,
            complain: { printError($0) })
    } catch {
        printError("the history is not exported: \(error)\nhint: check the files in \(directory)")
        return nil
    }
}

extension History {
    struct SchemaCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the SQL that creates the tables and views of the history in a PostgreSQL database.",
            discussion: """
                A daemon with a history.toml creates them itself if its database role may create a schema. Otherwise an administrator has to \
                run this SQL, and the roles of all daemons must be members of the owner's role.

                Example: plugctl history schema | psql --single-transaction smartplug
                """)

        func run() { Output.line(DatabaseSchema.text) }
    }
}
