import SimulatedLAN

// Both the LAN and multicast DNS have an address and an interface type. These names denote the LAN's types.
typealias LANAddress = IPAddress
typealias LANInterface = InterfaceID
typealias LANEndpoint = Endpoint
