import ArgumentParser
import PlugProtocol
import PlugService

struct Press: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push the button of a plug with simulated parts.",
        discussion: "Example: plugd press --state /tmp/lamp --double")

    @OptionGroup var plug: DirectoryOptions

    @Flag(help: "Push it twice.")
    var double = false

    @Flag(help: "Hold it.")
    var long = false

    func validate() throws {
        if double, long { throw ValidationError("a press is --double or --long, not both") }
    }

    func run() async throws {
        let press: ButtonPress = double ? .double : long ? .long : .single
        try await askPanel(.press(press), at: plug.directories)
    }
}
