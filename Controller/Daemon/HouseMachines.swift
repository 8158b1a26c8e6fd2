public import HostSleep
public import PlugClient
import PlugModel
public import RuleModel
import Synchronization

/// The machines that the daemon can wake: those of `machines.toml`, and the hosts that sleep, or have slept, at the sleep
/// proxies of its plugs.
public final class HouseMachines: HouseObserver {
    private let configured: KnownMachines
    /// The hosts at the sleep proxy of each plug.
    private let sleepers = Mutex<[String: [PlugSleeper]]>([:])

    /// Creates the list.
    ///
    /// - Parameter configured: the machines of `machines.toml`.
    public init(_ configured: KnownMachines) { self.configured = configured }

    /// The current machines. A machine of the file replaces a host with the same name or card.
    public var current: KnownMachines {
        // If a host has several cards, the one that sleeps is known by its name.
        let learned = sleepers.withLock { Array($0.values.joined()) }
            .sorted {
                ($0.label.lowercased(), $0.asleepSince == nil ? 1 : 0, $0.card)
                    < ($1.label.lowercased(), $1.asleepSince == nil ? 1 : 0, $1.card)
            }
        return learned.reduce(into: configured) { known, sleeper in
            let machine = KnownMachine(learned: sleeper.label, card: sleeper.card, addresses: sleeper.addresses)
            if let machine { known.add(machine) }
        }
    }

    /// Remembers the hosts of a plug, also while the plug is disconnected.
    public func handle(_ update: HouseFollower.Update) {
        switch update {
        case .lost(let plug): sleepers.withLock { $0[plug] = nil }
        case .report(let report):
            guard let state = report.update.state else { return }
            sleepers.withLock { $0[report.plug] = state.sleepers.isEmpty ? nil : state.sleepers }
        case .found: break
        }
    }

    /// Ignores the records of rules.
    public func note(_ record: RunnerRecord) {}
    /// Ignores the rules.
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}
}

extension PlugSleeper {
    /// The host name without the domain of multicast DNS.
    fileprivate var label: String {
        let domain = ".local"
        return host.hasSuffix(domain) ? String(host.dropLast(domain.count)) : host
    }
}

extension PlugUpdate {
    /// The state of the plug, if the update has one.
    fileprivate var state: PlugState? {
        switch self {
        case .snapshot(let state), .state(let state): state
        default: nil
        }
    }
}
