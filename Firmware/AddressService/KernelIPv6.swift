import AddressConfiguration
import LinuxNetwork

extension IPv6LinkLocalClaim.Kernel {
    /// Reads the kernel's IPv6 settings of an interface. Nil on a kernel without IPv6.
    init?(of interface: String) {
        guard let disabled = KernelSetting.read(.disableIPv6, of: interface) else { return nil }
        if disabled != "0" {
            self = .disabled
        } else {
            // IN6_ADDR_GEN_MODE_NONE.
            self = KernelSetting.read(.linkLocalMode, of: interface) == "1" ? .makesNone : .makesOne
        }
    }
}

extension LinuxAddress {
    var progress: IPv6LinkLocalClaim.Progress {
        switch state {
        case .tentative: .tentative
        case .duplicate: .duplicate
        case .usable: .usable
        }
    }
}
