import ConfigurationFiles
import DurableFiles
import Effects

/// Where it stands who gets the notifications of rules: the user's own file, or else the machine's.
enum NotificationFile {
    static let places = [
        UserDirectories.configuration + "/smartplug/notifications.toml", "/etc/smartplug/notifications.toml",
    ]

    /// Nil where there is no such file.
    static func read() throws(Complaint) -> NotificationSettings? {
        for path in places {
            let found = try readSettings(path, limit: NotificationSettings.fileLimit) {
                bytes throws(ConfigurationError) in
                try NotificationSettings(bytes, file: path, home: UserDirectories.home)
            }
            if let found { return found }
        }
        return nil
    }

    /// For the rules, which run also where it is broken: that is said, and each notification fails for that reason.
    static func receivers() -> [NamedReceiver] {
        do throws(Complaint) {
            return try read()?.receivers ?? []
        } catch {
            complainOfFile("\(error)\nhint: put it right and start again; until then rules run, and notify nobody")
            let first = "\(error)".split(separator: "\n").first.map(String.init) ?? ""
            return [.unreadable("the settings of notifications are broken", first)]
        }
    }
}
