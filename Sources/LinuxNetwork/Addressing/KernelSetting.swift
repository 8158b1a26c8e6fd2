import Glibc

/// One of the kernel's settings of an interface (ip-sysctl), changed for a time.
package struct KernelSetting {
    package enum Name: Hashable, Sendable {
        /// Which ARP requests the kernel answers; 8: none.
        case ignoredARP
        /// How often a neighbour is asked by unicast whether it is still there, before it is asked by broadcast.
        case unicastProbes
        /// 1: no IPv6 at all, not even a link-local address.
        case disableIPv6
        /// 1: the kernel makes no link-local address.
        case linkLocalMode
    }

    package let name: Name
    /// What was there before the first ``set(_:on:)``; nil while nothing was changed.
    private var former: String?

    package init(_ name: Name) { self.name = name }

    /// Nil where there is no such setting: a kernel without IPv6, an interface that is gone.
    package static func read(_ name: Name, of interface: String) -> String? {
        guard let text = procFile(name.path(interface), limit: 64) else { return nil }
        let value = text.prefix { !$0.isNewline }
        return value.isEmpty ? nil : String(value)
    }

    /// Changes it, and keeps what was there. A value of ours that a killed process left is taken for the kernel's default.
    ///
    /// - Returns: the error number where the kernel refuses.
    @discardableResult
    package mutating func set(_ value: String, on interface: String) -> Int32? {
        guard let present = Self.read(name, of: interface) else { return ENOENT }
        if former == nil { former = present == value ? name.usual : present }
        return present == value ? nil : Self.write(value, name, of: interface)
    }

    /// Puts back what was there, if it was changed.
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
    /// The directory shows the network namespace of the thread that looks. Names of interfaces have no slash.
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
