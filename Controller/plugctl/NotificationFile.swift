import ConfigurationFiles
import Effects
import LinuxSystem

/// The file with the receivers of rules' notifications: the user's own file, otherwise the machine's.
enum NotificationFile {
    static let places = [
        UserDirectories.configuration + "/smartplug/notifications.toml", "/etc/smartplug/notifications.toml",
    ]

    /// Returns nil if the file is missing.
    static func read() throws(CLIError) -> NotificationSettings? {
        for path in places {
            let found = try readSettings(path, limit: NotificationSettings.fileLimit) {
                bytes throws(ConfigurationError) in
                try NotificationSettings(bytes, file: path, home: UserDirectories.home)
            }
            if let found { return found }
        }
        return nil
    }

    /// Returns the receivers for rules. If the file is invalid, that is reported, rules still run, and each
    /// notification fails with this reason.
    static func receivers() -> [NamedReceiver] {
        do throws(CLIError) {
            return try read()?.receivers ?? []
        } catch {
            complainOfFile(
                """
                \(error)
                hint: correct the file and restart plugctl; until then, rules run but send no notifications
                """)
            let first = "\(error)".split(separator: "\n").first.map(String.init) ?? ""
            return [.unreadable("the notification settings are not valid", first)]
        }
    }
}
