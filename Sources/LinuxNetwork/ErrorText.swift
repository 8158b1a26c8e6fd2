import Glibc
import NIOCore

/// Returns the C library's description of an error number, such as "Network is unreachable".
public func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

/// Returns the description of an error. The error of a system call is described without the name of the call.
public func errorText(_ error: any Error) -> String {
    (error as? IOError).map { errorText($0.errnoCode) } ?? "\(error)"
}

/// Returns true for the error numbers that socket calls return if the kernel has no IPv6, or if IPv6 is disabled.
public func lacksIPv6(_ code: Int32) -> Bool { code == EAFNOSUPPORT || code == EADDRNOTAVAIL }
