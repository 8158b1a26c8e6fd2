import Daemon
import HostSleep
import LinuxNetwork
import LinuxSystem
import PlugClient
import ProtocolCore

/// Registers this machine with a sleep proxy before it sleeps, and resumes afterwards.
struct SleepingMachine {
    /// The time after a wake-up in which the plugs report what happened.
    private static let gathering = Duration.seconds(15)

    let client: PlugClient
    let interfaces: InterfaceFilter
    let digest: SleepDigest
    /// The directory of state that must survive a restart.
    let directory: String

    /// Runs until the task is cancelled.
    func run() async {
        let service = SleepService(
            client.discovery, interfaces: interfaces, on: client.eventLoop, directory: directory,
            report: { printError($0) },
            resumed: { [client, digest] line, asleep in
                let end = BootClock.now
                await client.checkConnections()
                try? await Task.sleep(for: Self.gathering)
                printError("\(line); \(digest.words(from: end - asleep, to: end))")
            })
        await service.run()
    }
}
