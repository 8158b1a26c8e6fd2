import AddressService
import LinuxSystem
import PlugModel

/// Manages the plug's own addresses.
extension PlugService {
    /// Begins to configure the interfaces without waiting, or continues with the addressing of the previous service.
    func address(continuing former: Addressing?) -> Addressing {
        let addressing =
            former
            ?? Addressing(
                Addressing.Settings(
                    mode: settings.addressing, interfaces: settings.interfaces,
                    stateDirectory: settings.directories.state, runtimeDirectory: settings.directories.runtime,
                    plug: machine.identity.id), on: loop, logger: logger)
        self.addressing = addressing
        addressing.assumeIsolated { addressing in
            if former == nil { addressing.start() }
            addressing.tell { [weak self] networks in
                self?.assumeIsolated {
                    $0.handle(.networks(networks))
                    $0.sleepProxy?.assumeIsolated { $0.update() }
                }
            }
        }
        return addressing
    }
}
