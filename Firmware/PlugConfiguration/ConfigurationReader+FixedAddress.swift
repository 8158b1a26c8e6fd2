import AddressConfiguration
import ConfigurationFiles

extension ConfigurationReader.Table {
    /// Reads the address that the owner chose for the interface, or returns nil if the table has none.
    func fixedAddress(hasInterface: Bool, isObserved: Bool) -> FixedAddress? {
        let address = text("address", "an address with its number of bits", longest: 40)
        let router = text("router", "the address of the router", longest: 40)
        let servers = texts("name_servers", "addresses of name servers", most: FixedAddress.nameServerLimit)
        guard let address else {
            for (key, isPresent) in [("router", router != nil), ("name_servers", servers != nil)] where isPresent {
                wrong(.invalid("it requires an address"), key)
            }
            return nil
        }
        if !hasInterface { wrong(.missing("the interface with this address"), "interface") }
        if isObserved {
            wrong(.invalid("with addressing = \"observe\", a different program sets the address"), "address")
        }
        do throws(FixedAddress.Mistake) {
            return try FixedAddress(address, router: router ?? "", nameServers: (servers ?? []).map(\.text))
        } catch {
            wrong(.invalid("\(error)"), error.key)
            return nil
        }
    }
}

extension FixedAddress.Mistake {
    /// The key with the mistake.
    fileprivate var key: String {
        switch self {
        case .notAnAddress, .notAHost: "address"
        case .notARouter: "router"
        case .notANameServer, .tooManyNameServers: "name_servers"
        }
    }
}
