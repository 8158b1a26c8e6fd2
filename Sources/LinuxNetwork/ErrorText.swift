import Glibc

/// The C library's sentence for an error number, such as "Network is unreachable".
public func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

/// True for what a socket call says on a kernel without IPv6, or with it switched off.
public func lacksIPv6(_ code: Int32) -> Bool { code == EAFNOSUPPORT || code == EADDRNOTAVAIL }
