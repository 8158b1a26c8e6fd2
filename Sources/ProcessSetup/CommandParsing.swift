public import ArgumentParser

extension ParsableCommand {
    /// Parses arguments like `parseAsRoot(_:)`, which reads the declarations of all commands. That takes most of the
    /// start of a short command, so this function reads only those of the command that the first words name.
    public static func parseNamed(
        _ arguments: [String] = Array(CommandLine.arguments.dropFirst())
    ) throws -> any ParsableCommand {
        var named: any ParsableCommand.Type = self
        var rest = arguments[...]
        while let word = rest.first,
            let inner = named.configuration.subcommands.first(where: { $0.configuration.commandName == word })
        {
            named = inner
            rest = rest.dropFirst()
        }
        // The answers to a request for help and to a mistake need all declarations.
        if rest.count < arguments.count, let command = try? named.parseAsRoot(Array(rest)) { return command }
        return try parseAsRoot(arguments)
    }
}
