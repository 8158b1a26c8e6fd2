import Glibc

/// The C library's sentence for an error number, such as "Network is unreachable".
public func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
