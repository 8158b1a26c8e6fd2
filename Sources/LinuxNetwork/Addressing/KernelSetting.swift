import Glibc

/// A kernel setting of an interface (ip-sysctl) that is changed temporarily.
package struct KernelSetting {
    /// The settings that can be changed.
    package enum Name: Hashable, Sendable {
        /// `arp_ignore`: the ARP requests that the kernel answers; with 8 it answers none.
        case ignoredARP
        /// `ucast_solicit`: the number of unicast probes to a neighbour before a broadcast.
        case unicastProbes
        /// `disable_ipv6`: 1 disables IPv6, including link-local addresses.
        case disableIPv6
        /// `addr_gen_mode`: 1 disables the kernel's link-local address.
        case linkLocalMode
    }

    /// The setting.
    package let name: Name
    /// The value before the first ``set(_:on:)``; nil while the setting is unchanged.
    private var former: String?

    /// Creates an unchanged setting.
    package init(_ name: Name) { self.name = name }

    /// Returns the value; nil if the setting does not exist: the kernel has no IPv6, or the interface is gone.
    package static func read(_ name: Name, of interface: String) -> String? {
        guard let text = procFile(name.path(interface), limit: 64) else { return nil }
        let value = text.prefix { !$0.isNewline }
        return value.isEmpty ? nil : String(value)
    }

    /// Changes the setting and stores the previous value. If the setting already has the new value, a killed process of
    /// this program probably left it; then the kernel's default counts as the previous value.
    ///
    /// - Returns: nil on success, ENOENT if the setting does not exist, or the kernel's error number.
    @discardableResult
    package mutating func set(_ value: String, on interface: String) -> Int32? {
        guard let present = Self.read(name, of: interface) else { return ENOENT }
        if former == nil { former = present == value ? name.usual : present }
        return present == value ? nil : Self.write(value, name, of: interface)
    }

    /// Restores the previous value if the setting was changed.
    package mutating func restore(on interface: String) {
        guard let value = former else { return }
        former = nil
        _ = Self.write(value, name, of: interface)
    }

    private static func write(_ value: String, _ name: Name, of interface: String) -> Int32? {
        let descriptor = open(name.path(interface), O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return Glibc.write(descriptor, value, value.utf8.count) == value.utf8.count ? nil : errno
    }
}

extension KernelSetting.Name {
    /// The path of the setting. /proc/sys shows the network namespace of the calling thread. Names of interfaces
    /// contain no slash.
    fileprivate func path(_ interface: String) -> String {
        switch self {
        case .ignoredARP: "/proc/sys/net/ipv4/conf/\(interface)/arp_ignore"
        case .unicastProbes: "/proc/sys/net/ipv4/neigh/\(interface)/ucast_solicit"
        case .disableIPv6: "/proc/sys/net/ipv6/conf/\(interface)/disable_ipv6"
        case .linkLocalMode: "/proc/sys/net/ipv6/conf/\(interface)/addr_gen_mode"
        }
    }

    /// The kernel's default.
    fileprivate var usual: String {
        switch self {
        case .ignoredARP, .disableIPv6, .linkLocalMode: "0"
        case .unicastProbes: "3"
        }
    }
}
