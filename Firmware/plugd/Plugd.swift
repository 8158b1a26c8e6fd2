import ArgumentParser

@main
struct Plugd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugd",
        abstract: "The firmware of a smart plug.",
        discussion: """
            A plug that you plug in and that works: found by name, switched and dimmed with an acknowledgement, its button
            and its power meter reported to everyone who listens.

            Try it without hardware:
              plugd run --name Lamp --state /tmp/lamp --simulate lamp
            """,
        version: plugdVersion,
        subcommands: [Run.self, Status.self, Press.self, Load.self])
}

/// Where a running plug is found on this machine.
struct StateOption: ParsableArguments {
    @Option(name: .customLong("state"), help: "The plug's state directory.", completion: .directory)
    var stateDirectory: String
}
