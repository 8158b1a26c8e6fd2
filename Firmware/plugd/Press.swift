import ArgumentParser
import PlugModel
import PlugService

struct Press: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press",
        abstract: "Press the button of a plug with simulated parts.",
        discussion: "Example: plugd press --state /tmp/lamp --double")

    @OptionGroup var plug: DirectoryOptions

    @Flag(help: "Press it twice.")
    var double = false

    @Flag(help: "Hold it.")
    var long = false

    @Option(
        parsing: .unconditional,
        help: "Hold it for this many seconds: 5 open the pairing window, 15 reset the plug to factory state.")
    var hold: Double?

    func validate() throws {
        if [double, long, hold != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--double, --long and --hold cannot be combined")
        }
        if let hold, !(0.001...60).contains(hold) { throw ValidationError("--hold must be 0.001 to 60 seconds") }
    }

    func run() async throws {
        if let hold { return try await askPanel(.hold(Int(hold * 1000)), at: plug.directories) }
        let press: ButtonPress = double ? .double : long ? .long : .single
        try await askPanel(.press(press), at: plug.directories)
    }
}
