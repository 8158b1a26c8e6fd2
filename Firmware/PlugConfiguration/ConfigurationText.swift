import TOMLKit

/// The text of a configuration file, as tables of scalars.
struct ConfigurationText {
    let table: TOMLTable

    init(_ text: String) throws {
        table = try TOMLTable(string: text)
    }
}
