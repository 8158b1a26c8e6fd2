import AddressService
import LinuxDevices
import LinuxSystem
import Logging
import PlugConfiguration
import PlugHardware
import PlugService
import UnixSignals

/// The settings and parts with which `plugd run` starts.
struct RunPlan {
    private var settings: PlugSettings
    /// The configuration of the parts, or nil if they are simulated.
    private let plug: PlugConfiguration?
    private let logger: Logger

    init(_ settings: PlugSettings, _ plug: PlugConfiguration, _ logger: Logger) {
        (self.settings, self.plug, self.logger) = (settings, plug, logger)
    }

    init(_ settings: PlugSettings, simulated: SimulatedPlug, isDimmable: Bool, _ logger: Logger) {
        (self.settings, plug, self.logger) = (settings, nil, logger)
        if isDimmable { self.settings.appliance.capabilities.insert(.dimmer) }
        self.settings.parts = simulated.parts(dimmable: isDimmable)
        self.settings.simulated = simulated
    }

    var addressing: AddressingMode { settings.addressing }

    /// True if the configuration turns the sleep proxy on, which answers for other hosts even if plugd manages no
    /// addresses.
    var requiresRawPackets: Bool { settings.sleepProxy == true }

    /// True if the plug may open its own Wi-Fi network, in which it serves DHCP, DNS and HTTP.
    var servesSetup: Bool { settings.wiFi != nil }

    /// Opens the devices and runs the plug until a signal. plugd's user or its groups own the devices, so no privileges
    /// are needed.
    func run(_ manager: ServiceManager) async throws {
        var settings = settings
        if let plug {
            apply(RealParts(plug, directories: settings.directories, manager: manager), plug, &settings)
        }
        manager.dropUnclaimed()
        settings.supervisor = Supervisor(watchdog: manager.watchdog) { manager.notify($0) }
        do {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            try await PlugService.run(settings, logger: logger) {
                for await _ in signals { break }
                OrderlyStop.limit("plugd")
            }
        } catch let error as FileError {
            throw CLIError(error)
        }
    }

    private func apply(_ real: RealParts, _ plug: PlugConfiguration, _ settings: inout PlugSettings) {
        settings.parts = real.parts
        settings.board = real.board
        settings.keepsRelayOnExit = plug.relay?.onExit != .off
        // If the kernel debounces the button, the machine does not.
        if real.parts.button?.isDebounced == true { settings.appliance.debounce = .zero }
        if let warning = real.board?.calibration.read().warning { logger.error("\(warning)") }
        if plug.relay == nil, plug.dimmer == nil {
            logger.warning("the configuration names no relay and no dimmer, so this plug cannot switch")
        }
        // The relay's line from the service manager is claimed before the unclaimed descriptors are closed.
        for (part, look) in real.looks where part == "relay" { try? look() }
        // The dimmer is checked here, because it may stay unused for long. Relay, button and light report errors at
        // their first use.
        for (part, look) in real.looks where part == "dimmer" {
            do throws(HardwareFault) { try look() } catch { logger.error("\(error)") }
        }
    }
}
