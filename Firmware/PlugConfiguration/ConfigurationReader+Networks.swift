import ConfigurationFiles
import LinuxNetwork

extension ConfigurationReader.Table {
    /// The maximum number of networks in a list. Limits the work for each connection.
    private static let networkLimit = 16

    /// Reads a list of networks such as "192.0.2.0/24"; an empty list if the key is missing.
    func networks(_ key: String) -> [NetworkPrefix] {
        (texts(key, "networks such as 192.0.2.0/24", most: Self.networkLimit) ?? []).compactMap { item in
            guard let network = NetworkPrefix(text: item.text) else {
                wrong(
                    .invalid(
                        "\"\(item.text.prefix(60))\" is not a network; write its first address and the number of its bits, "
                            + "such as 192.0.2.0/24"), key, line: item.line)
                return nil
            }
            return network
        }
    }
}
