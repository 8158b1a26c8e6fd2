import AddressService
import LinuxSystem
import PlugModel

/// Manages the plug's own addresses.
extension PlugService {
    /// Starts to configure the interfaces, and returns before they have addresses. After a factory reset, it continues
    /// with `former`, the addressing of the service that was reset.
    func address(continuing former: Addressing?) -> Addressing {
        let addressing =
            former
            ?? Addressing(
                Addressing.Settings(
                    mode: settings.addressing, interfaces: settings.interfaces, fixed: settings.fixedAddresses,
                    stateDirectory: settings.directories.state, runtimeDirectory: settings.directories.runtime,
                    plug: machine.identity.id), on: loop, logger: logger)
        self.addressing = addressing
        // Swift 6.2 cannot compile this closure within the other one.
        let update: @Sendable ([PlugNetwork]) -> Void = { [weak self] networks in
            self?.assumeIsolated {
                $0.handle(.networks(networks))
                $0.tellCable()
                $0.sleepProxy?.assumeIsolated { $0.update() }
            }
        }
        addressing.assumeIsolated { addressing in
            if former == nil { addressing.start() }
            addressing.tell(update)
        }
        return addressing
    }
}
