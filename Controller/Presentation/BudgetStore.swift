public import HouseCalendar
import LinuxSystem

/// The budget file of a user.
public struct BudgetStore: Sendable {
    /// The path of the file.
    public let path: String
    private let files = FileStore()

    /// Refers to a file; by default `budget.toml` in the user's configuration directory.
    public init(path: String? = nil) { self.path = path ?? UserDirectories.configuration + "/smartplug/budget.toml" }

    /// Reads the budget; nil if the file is missing.
    ///
    /// - Throws: `FileError`, or `ConfigurationError` with all mistakes of the file.
    public func read() throws -> Budget? {
        try files.readIfPresent(path, limit: Tariff.fileLimit).map { try Budget($0, file: path) }
    }

    /// Checks the budget and replaces the file. Comments in the previous file are lost.
    ///
    /// - Throws: `ConfigurationError` if the budget is not valid, or `FileError`; the file then stays as it was.
    public func write(_ budget: Budget) throws {
        let text = Array(budget.toml.utf8)
        _ = try Budget(text, file: "the budget")
        try files.changing(path) { try files.replace(path, with: text, mode: 0o644) }
    }

    /// Removes the file. Does nothing if the file is missing.
    ///
    /// - Throws: `FileError`.
    public func remove() throws { try files.changing(path) { try files.removeIfPresent(path) } }
}

extension Budget {
    /// The text of a budget file.
    var toml: String {
        switch self {
        case .cost(let amount, let currency): "[budget]\ncost = \(amount)\ncurrency = \(tomlString(currency))\n"
        case .energy(let kilowattHours): "[budget]\nenergy = \(kilowattHours)\n"
        }
    }
}

/// A string of TOML.
func tomlString(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case _ where scalar.value < 0x20 || scalar.value == 0x7f:
            "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        case _: "\(scalar)"
        }
    }
    return "\"\(escaped.joined())\""
}
