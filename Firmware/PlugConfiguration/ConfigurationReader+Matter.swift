import ConfigurationFiles

extension ConfigurationReader {
    /// Reads the Matter settings, or returns nil if Matter is disabled.
    func matter(file: String) -> PlugConfiguration.Matter? {
        let matter = table("matter")
        let isEnabled = matter.boolean("enabled") ?? false
        let port = matter.integer("port", 1...65_535).map { UInt16($0) }
        let credentials = matter.path("credentials", "a folder with credentials", beside: file, home: nil)
        return isEnabled ? PlugConfiguration.Matter(port: port, credentials: credentials) : nil
    }
}
