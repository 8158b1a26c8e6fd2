import JSONText
import LinuxNetwork
import PlugModel
import SleepProxyService

/// Serves sleeping hosts.
extension PlugService {
    /// True if the plug serves sleeping hosts when one of its interfaces permits it.
    var mayServeSleepers: Bool { settings.sleepProxy != false && !settings.staysOnThisMachine }

    func openSleepProxy(_ discovery: Discovery) async {
        guard mayServeSleepers, let addressing else { return }
        let proxy = SleepProxyService(
            SleepProxyService.Settings(
                isEnabled: settings.sleepProxy, name: machine.identity.name,
                hostName: "plug-" + machine.identity.id.short, directory: settings.directories.runtime),
            discovery, on: loop, logger: logger, links: { addressing.assumeIsolated { $0.links } },
            sleepersChanged: { [weak self] sleepers in self?.assumeIsolated { $0.handle(.sleepers(sleepers)) } })
        sleepProxy = proxy
        await proxy.start()
    }

    /// The value of `sleep_proxy` in `plugd status`.
    var sleepProxyStatus: JSONObject {
        if let sleepProxy { return sleepProxy.assumeIsolated { $0.status } }
        var status = JSONObject()
        status.add("enabled", false)
        let reason =
            if settings.sleepProxy == false {
                "[sleep_proxy] in plugd.toml turns it off"
            } else if settings.staysOnThisMachine {
                "the plug uses only the loopback interface"
            } else {
                "the plug is off the network"
            }
        status.add("reason", reason)
        return status
    }
}
