public import AddressService
public import Appliance
public import ArgumentParser
import DurableFiles
import LinuxNetwork
public import Logging
import PlugHardware
import PlugService
import UnixSignals

let plugdVersion = PlugService.firmwareVersion

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the plug until it is told to stop.",
        discussion: """
            Examples:
              plugd run --name Lamp --state /tmp/lamp --simulate lamp
              plugd run --name Television --state /tmp/tv --simulate television.csv.xz --from 11:13
            """)

    @Option(help: "What people call the plug; a name that is taken gets a number. (default: Plug and its id)")
    var name: String?

    @OptionGroup var plug: DirectoryOptions

    @Option(help: "Simulated parts with this load: \(loadNames), or a recording (.csv, .csv.xz).")
    var simulate: String?

    @Option(help: "How many times faster than life the simulated load runs.")
    var speed = 1.0

    @Option(help: "Where in the day a recording begins, as HH:MM or HH:MM:SS.")
    var from: String?

    @Flag(inversion: .prefixedNo, help: "Whether it has a dimmer. (default: a lamp has one)")
    var dimmer: Bool?

    @Option(help: "Only this network interface; may be given several times. (default: all that can multicast)")
    var interface: [String] = []

    @Option(
        help: ArgumentHelp(
            "Who gives the interfaces their addresses: manage (plugd does), observe (somebody else does) or auto.",
            discussion: "(auto: plugd does where no other program does and no address is set by hand)"))
    var addressing = AddressingMode.auto

    @Option(help: "TCP port. (default: the kernel picks one)")
    var port: UInt16 = 0

    @Option(help: "What the relay does when power returns: off, on, last.")
    var powerOn = PowerOnState.last

    @Option(help: "Turn off again this many seconds after turning on.")
    var autoOff: Double?

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        guard simulate != nil else {
            throw ValidationError(
                "this version has no drivers for real parts yet: add --simulate, for instance --simulate lamp")
        }
        guard name.map({ !$0.isEmpty && $0.utf8.count <= 63 }) ?? true else {
            throw ValidationError("a name has 1 to 63 bytes of UTF-8 (RFC 6763)")
        }
        guard (0.001...10_000).contains(speed) else { throw ValidationError("--speed lies between 0.001 and 10000") }
        guard autoOff.map({ (0.1...86_400).contains($0) }) ?? true else {
            throw ValidationError("--auto-off lies between 0.1 and 86400 seconds")
        }
    }

    func run() async throws {
        var logger = Logger(label: "plugd") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel
        do {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            try await PlugService.run(settings(), logger: logger) {
                for await _ in signals { break }
            }
        } catch let error as FileError {
            throw Complaint(error)
        }
    }

    private func settings() throws -> PlugSettings {
        var appliance = ApplianceConfiguration()
        let isDimmable = dimmer ?? (simulate == SimulatedAppliance.lamp.rawValue)
        if isDimmable { appliance.capabilities.insert(.dimmer) }
        appliance.powerOnState = powerOn
        appliance.autoOff = autoOff.map { .milliseconds(Int64($0 * 1000)) }
        let simulated = try SimulatedPlug(
            load: simulatedLoad(), seed: .random(in: .min ... .max), speed: speed, clock: { BootClock.now })
        return PlugSettings(
            name: name, directories: plug.directories, interfaces: Set(interface), addressing: addressing,
            port: port, appliance: appliance, parts: simulated.parts(dimmable: isDimmable), simulated: simulated)
    }

    private func simulatedLoad() throws -> PluggedLoad {
        let text = simulate ?? ""
        guard text.hasSuffix(".csv") || text.hasSuffix(".xz") || text.contains("/") else {
            return try PluggedLoad.parse(text)
        }
        return try .recording(readRecording(text, from: from, speed: speed))
    }
}

private let loadNames = SimulatedAppliance.allCases.map(\.rawValue).joined(separator: ", ")

extension PowerOnState: ExpressibleByArgument {}
extension AddressingMode: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
