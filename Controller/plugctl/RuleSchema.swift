import ArgumentParser
import RuleFiles

struct RuleSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema of rule files, by which an editor completes and checks them.",
        discussion: """
            Write it to a file once and name that file in the first line of your rule files; editors with the YAML language server \
            (Visual Studio Code with the YAML extension, Neovim, Emacs, Kate and others) take it from there:
              # yaml-language-server: $schema=plugctl-rules.json

            It knows keys, words and how quantities look. `plugctl rules check` knows more: how large they may be, and your plugs.

            Example: plugctl rules schema > plugctl-rules.json
            """)

    func run() { Output.line(RuleSchema.json()) }
}
