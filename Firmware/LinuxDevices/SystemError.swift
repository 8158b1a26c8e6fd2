import Glibc

/// What the system refused, as its error number.
struct SystemError: Error, Hashable, CustomStringConvertible {
    var number: Int32

    /// For functions that return 0 or an error number.
    static func check(_ number: Int32) throws(SystemError) {
        guard number == 0 else { throw SystemError(number: number) }
    }

    var description: String { String(cString: strerror(number)).lowercased() }
}
