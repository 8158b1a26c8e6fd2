public import ConfigurationFiles
import Processes

extension OutsideLimits {
    /// The maximum size of the file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The maximum number of programs, or servers, in a list. It limits the comparisons per effect.
    static let listLimit = 256

    private enum Word: String, CaseIterable {
        case any, off
    }

    /// Reads the limits from a TOML file:
    ///
    /// ```toml
    /// [outside]
    /// run = ["/usr/bin/mpv", "~/bin/blink"]    # or "any", or "off"
    /// web_hooks = ["hooks.example.org", "192.0.2.7:8123"]
    /// keep_keys = true
    /// ```
    ///
    /// - Parameter home: the user's home folder, for programs that begin with `~/`.
    /// - Throws: `ConfigurationError` with all mistakes in the file.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        self.init(file: file)
        let table = reader.table("outside")
        switch table.choiceOrTexts("run", "a list of programs: [\"/usr/bin/mpv\"]", most: Self.listLimit, Word.self) {
        case .choice(.any), nil: programs = .any
        case .choice(.off): programs = .off
        case .texts(let items): programs = .only(items.compactMap { table.program($0, home) })
        }
        let servers = "a list of servers: [\"hooks.example.org\", \"192.0.2.7:8123\"]"
        switch table.choiceOrTexts("web_hooks", servers, most: Self.listLimit, Word.self) {
        case .choice(.any), nil: self.servers = .any
        case .choice(.off): self.servers = .off
        case .texts(let items): self.servers = .only(items.compactMap { table.server($0) })
        }
        keepsKeys = table.boolean("keep_keys")
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }
}

extension ConfigurationReader.Table {
    fileprivate func program(_ item: ConfigurationText.Item, _ home: String) -> String? {
        let path = item.text.hasPrefix("~/") ? home + item.text.dropFirst() : item.text
        guard path.hasPrefix("/"), ResolvedPath(path) != nil else {
            let words =
                "\"\(item.text.prefix(80))\" is not the path of a program, such as \"/usr/bin/mpv\" or \"~/bin/blink\""
            wrong(.contradiction(words), "run", line: item.line)
            return nil
        }
        return path
    }

    fileprivate func server(_ item: ConfigurationText.Item) -> AllowedServer? {
        if let server = AllowedServer(item.text) { return server }
        let words = "\"\(item.text.prefix(80))\" is not a server, such as \"hooks.example.org\" or \"192.0.2.7:8123\""
        wrong(.contradiction(words), "web_hooks", line: item.line)
        return nil
    }
}
