import AddressConfiguration
import DNSWire
import ProtocolCore

/// A neighbour that keeps its address in every conflict.
struct StubbornHost {
    let hardware: MACAddress
    /// The address, which was configured by hand or taken from a plug; nil for none.
    var address: IPv4Address?
    /// Claims every address that is probed.
    var deniesAll = false
    /// Returns every packet to the link, as some access points do.
    var mirrors = false

    func answer(_ packet: ARPPacket) -> ARPPacket? {
        if mirrors { return packet }
        if deniesAll, packet.isProbe { return .reply(to: packet, from: hardware) }
        guard let address, packet.senderHardware != hardware else { return nil }
        if packet.senderAddress == address { return .announcement(of: address, from: hardware) }
        guard packet.operation == .request, packet.targetAddress == address else { return nil }
        return .reply(to: packet, from: hardware)
    }

    var announcement: ARPPacket? { address.map { .announcement(of: $0, from: hardware) } }
}
