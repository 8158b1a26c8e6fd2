public import LinuxNetwork
public import NIOCore
public import PlugModel
import ProtocolCore

/// The network interface whose hardware address names the plug's host in Matter's announcements (Matter 4.3.1.1).
public struct MatterInterface: Hashable, Sendable {
    /// The name, such as "wlan0".
    public var name: String
    /// Six bytes.
    public var hardwareAddress: [UInt8]

    /// The host name without `.local`: 12 upper-case hexadecimal digits.
    public var hostName: String { HexadecimalText.text(of: hardwareAddress).uppercased() }

    /// Chooses the first interface with a hardware address, preferably one with a link. Without any, such as on
    /// loopback, the digits of the plug's id are the address.
    public init(_ interfaces: [LinuxInterface], plug: PlugID) {
        let usable = interfaces.filter { $0.hardwareAddress.count == 6 && $0.hardwareAddress.contains { $0 != 0 } }
        if let interface = usable.first(where: \.isOperational) ?? usable.first {
            (name, hardwareAddress) = (interface.name, interface.hardwareAddress)
        } else {
            name = interfaces.first?.name ?? "lo"
            hardwareAddress = HexadecimalText.bytes(of: plug.rawValue.utf8) ?? Array(repeating: 0, count: 6)
        }
    }

    /// Chooses among the current interfaces of this host.
    public static func find(
        _ filter: InterfaceFilter, on eventLoop: any EventLoop, plug: PlugID
    ) async -> MatterInterface {
        var interfaces: [LinuxInterface] = []
        do {
            for try await list in InterfaceMonitor.interfaces(filter, on: eventLoop) {
                interfaces = list
                break
            }
        } catch {
            // Without a list, the plug's id names the host; the kernel's refusal is reported by the discovery.
        }
        return MatterInterface(interfaces, plug: plug)
    }
}
