import ArgumentParser
import ConfigurationFiles
import DurableFiles
import PlugClient
import PowerHistory
import Tariffs

/// Where the history is.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: "The history's directory. (default: $STATE_DIRECTORY/history, else ~/.local/state/smartplug/history)",
        completion: .directory)
    var history: String?

    func open(_ role: PowerHistory.Role) throws(Complaint) -> PowerHistory {
        do throws(HistoryError) {
            return try PowerHistory(history ?? PowerHistory.defaultDirectory(), role: role, complain: complain)
        } catch {
            throw Complaint(error)
        }
    }

    /// For whoever does without, where there is none.
    func openIfPresent() throws(Complaint) -> PowerHistory? {
        do throws(HistoryError) {
            return try PowerHistory(history ?? PowerHistory.defaultDirectory(), role: .reader, complain: complain)
        } catch {
            // Whoever names a directory means it.
            if error.reason == .absent, history == nil { return nil }
            throw Complaint(error)
        }
    }
}

/// The names without those of a plug that is named before: by its name and by its id it is the same.
func once(_ names: [String], in history: PowerHistory?) -> [String] {
    var seen: Set<String> = []
    return names.filter { name in
        // What is wrong with a name is said where it is read.
        let known = try? history?.plug(meantBy: name)
        return seen.insert(known.map { "\($0.id)" } ?? name).inserted
    }
}

extension PowerHistory {
    /// The plug that the name means: the name of a plug that is paired with this controller means no other plug.
    func plug(meantBy name: String) throws(HistoryError) -> HistoryPlug {
        try plug(named: name, paired: (try? PairedPlugs().names()) ?? [:])
    }
}

extension Complaint {
    init(_ error: HistoryError) { self.init("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")) }
}

extension Tariff {
    /// The tariff of a file; without one named, the person's own, where there is one.
    static func read(_ file: String?) throws(Complaint) -> Tariff? {
        let path = file ?? UserDirectories.configuration + "/smartplug/tariff.toml"
        let tariff = try readSettings(path, limit: fileLimit) { bytes throws(ConfigurationError) in
            try Tariff(bytes, file: path)
        }
        if tariff == nil, file != nil {
            throw Complaint("there is no file \(path)\nhint: plugctl help history show says what stands in a tariff")
        }
        return tariff
    }
}
