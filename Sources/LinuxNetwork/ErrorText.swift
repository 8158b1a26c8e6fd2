import Glibc

/// Returns the C library's description of an error number, such as "Network is unreachable".
public func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

/// Returns true for the error numbers that socket calls return if the kernel has no IPv6, or if IPv6 is disabled.
public func lacksIPv6(_ code: Int32) -> Bool { code == EAFNOSUPPORT || code == EADDRNOTAVAIL }
