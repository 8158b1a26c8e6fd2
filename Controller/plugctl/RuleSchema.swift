import ArgumentParser
import RuleFiles

struct RuleSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of rule files, with which editors complete and check them.",
        discussion: """
            Write the schema to a file and name that file in the first line of your rule files. Editors with the YAML language server \
            (Visual Studio Code with the YAML extension, Neovim, Emacs, Kate and others) then use it:
              # yaml-language-server: $schema=plugctl-rules.json

            The schema covers keys, words and the syntax of quantities. `plugctl rules check` also checks their limits and your plugs.

            Example: plugctl rules schema > plugctl-rules.json
            """)

    func run() { Output.line(RuleSchema.json()) }
}
