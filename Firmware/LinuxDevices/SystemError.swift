import Glibc

/// The error number of a failed system call.
struct SystemError: Error, Hashable, CustomStringConvertible {
    var number: Int32

    /// Throws if a function's result, 0 or an error number, is not 0.
    static func check(_ number: Int32) throws(SystemError) {
        guard number == 0 else { throw SystemError(number: number) }
    }

    var description: String { String(cString: strerror(number)).lowercased() }
}
