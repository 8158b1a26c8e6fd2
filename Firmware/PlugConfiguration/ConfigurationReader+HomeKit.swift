import ConfigurationFiles

extension ConfigurationReader {
    /// Reads the HomeKit settings, or returns nil if HomeKit is disabled.
    func homeKit() -> PlugConfiguration.HomeKit? {
        let homeKit = table("homekit")
        let isEnabled = homeKit.boolean("enabled") ?? false
        let service = homeKit.choice("service", PlugConfiguration.HomeKit.Service.self)
        let port = homeKit.integer("port", 1...65_535).map { UInt16($0) }
        return isEnabled ? PlugConfiguration.HomeKit(service: service, port: port) : nil
    }
}
