public import AddressService
import Appliance
public import ArgumentParser
import HomeKitDoor
import LinuxSystem
public import Logging
import PlugHardware
public import PlugModel
import PlugService
import UnixSignals

let plugdVersion = PlugService.firmwareVersion

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the plug until it is stopped.",
        discussion: """
            Hardware parts are named in a configuration: see plugd.toml in the package. Without --config and --simulate the
            configuration is \(usualConfiguration). Options override the configuration. With --simulate the configuration must not
            name parts.

            Examples:
              plugd run --config plugd.toml
              plugd run --name Lamp --state /tmp/lamp --simulate lamp
              plugd run --name Television --state /tmp/tv --simulate television.csv.xz --from 11:13
            """)

    @Option(
        parsing: .unconditional,
        help: "The name of the plug; a number is added if the name is in use. (default: Plug and its id)")
    var name: String?

    @OptionGroup var plug: DirectoryOptions

    @Option(help: "The configuration with the parts. (default: \(usualConfiguration), if it exists)")
    var config: String?

    @Option(help: "Simulated parts with this load: \(loadNames), or a recording (.csv, .csv.xz).")
    var simulate: String?

    @Option(parsing: .unconditional, help: "The speed of the simulated load, as a multiple of real time.")
    var speed = 1.0

    @Option(help: "The time of day at which the recording starts, as HH:MM or HH:MM:SS.")
    var from: String?

    @Flag(inversion: .prefixedNo, help: "Simulate a dimmer. (default: only for a lamp)")
    var dimmer: Bool?

    @Option(
        help:
            "Use only this network interface; may be given several times. (default: all interfaces that support multicast)"
    )
    var interface: [String] = []

    @Option(
        help: ArgumentHelp(
            "Address configuration of the interfaces: manage (by plugd), observe (by another program) or auto.",
            discussion:
                "(default: auto: plugd manages an interface if no other program does and no address is set by hand)"))
    var addressing: AddressingMode?

    @Option(parsing: .unconditional, help: "TCP port. (default: chosen by the kernel)")
    var port: UInt16?

    @Option(help: "State of the relay when power returns: off, on, last (default), locked-on.")
    var powerOn: PowerOnState?

    @Option(parsing: .unconditional, help: "Turn the plug off this many seconds after it was turned on.")
    var autoOff: Double?

    @Option(help: "Log level: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        if simulate == nil, dimmer != nil {
            throw ValidationError("--dimmer requires --simulate; for hardware use [dimmer] in the configuration")
        }
        guard name.map({ !$0.isEmpty && $0.utf8.count <= 63 }) ?? true else {
            throw ValidationError("a name must have 1 to 63 bytes of UTF-8 (RFC 6763)")
        }
        guard (0.001...10_000).contains(speed) else { throw ValidationError("--speed must be between 0.001 and 10000") }
        guard autoOff.map({ (0.1...86_400).contains($0) }) ?? true else {
            throw ValidationError("--auto-off must be between 0.1 and 86400 seconds")
        }
    }

    func run() async throws { preconditionFailure("the entry runs its plan") }

    /// Combines the configuration and the command line, which has precedence.
    ///
    /// - Throws: ``CLIError`` with all errors of the configuration.
    func plan() throws -> RunPlan {
        let plug = simulate == nil || config != nil ? try readConfiguration(config) : nil
        if simulate != nil, plug?.namesParts == true {
            throw CLIError("--simulate cannot be used with a configuration that names parts")
        }
        guard simulate != nil || plug != nil else {
            throw CLIError(
                """
                no hardware configuration found: \(usualConfiguration) does not exist
                hint: name the parts in a configuration and use --config, or try --simulate lamp
                """)
        }
        let log = LogRelay()
        var logger = Logger(label: "plugd") { log.handler(over: StreamLogHandler.standardError(label: $0)) }
        logger.logLevel = logLevel
        var appliance = plug?.appliance ?? ApplianceConfiguration()
        if simulate != nil { appliance.capabilities = ApplianceConfiguration().capabilities }
        if let powerOn { appliance.powerOnState = powerOn }
        if let autoOff { appliance.autoOff = .milliseconds(Int64(autoOff * 1000)) }
        let mode = addressing ?? plug?.addressing.flatMap { AddressingMode(rawValue: $0.rawValue) } ?? .auto
        var settings = PlugSettings(
            name: name ?? plug?.name, directories: self.plug.directories,
            interfaces: interface.isEmpty ? Set([plug?.interface].compactMap(\.self)) : Set(interface),
            addressing: mode, port: port ?? plug?.port ?? 0, appliance: appliance, parts: PlugParts())
        settings.log = log
        if let plug, let interface = plug.interface { settings.fixedAddresses[interface] = plug.fixedAddress }
        if let code = plug?.codeAfterReset { settings.codeAfterReset = code }
        settings.pairingNetworks = plug?.pairingNetworks ?? []
        settings.broker = plug?.broker
        settings.homeKit = plug?.homeKit.map { homeKit in
            HomeKitSettings(
                shape: homeKit.service.flatMap { PlugAccessory.Shape(rawValue: $0.rawValue) }, port: homeKit.port ?? 0)
        }
        settings.matter = plug?.matter.map { MatterSettings($0) }
        settings.wiFi = plug?.wiFi
        settings.sleepProxy = plug?.sleepProxy
        settings.wideArea = plug?.wideArea
        guard let plug, simulate == nil else {
            let isDimmable = dimmer ?? (simulate == SimulatedAppliance.lamp.rawValue)
            let simulated = try SimulatedPlug(
                load: simulatedLoad(), seed: .random(in: .min ... .max), speed: speed, clock: { BootClock.now })
            return RunPlan(settings, simulated: simulated, isDimmable: isDimmable, logger)
        }
        return RunPlan(settings, plug, logger)
    }

    private func simulatedLoad() throws -> PluggedLoad {
        let text = simulate ?? ""
        guard text.hasSuffix(".csv") || text.hasSuffix(".xz") || text.utf8.contains(UInt8(ascii: "/")) else {
            return try PluggedLoad.parse(text)
        }
        return try .recording(readRecording(text, from: from, speed: speed))
    }
}

private let loadNames = SimulatedAppliance.allCases.map(\.rawValue).joined(separator: ", ")

extension PowerOnState: ExpressibleByArgument {}
extension AddressingMode: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
