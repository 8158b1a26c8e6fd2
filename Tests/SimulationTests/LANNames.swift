import SimulatedLAN

// The LAN and multicast DNS each have an address and an interface; files that see both call the LAN's so.
typealias LANAddress = IPAddress
typealias LANInterface = InterfaceID
typealias LANEndpoint = Endpoint
