import Glibc

/// An error number of a failed system call (errno.h).
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, such as ENOSPC.
    public let code: Int32

    /// Creates an error from its number.
    public init(_ code: Int32) { self.code = code }

    /// Throws if a call failed.
    ///
    /// - Parameter result: 0, or an error number.
    public static func check(_ result: Int32) throws(SystemError) {
        guard result == 0 else { throw SystemError(result) }
    }

    /// EINTR
    public static let interrupted = SystemError(EINTR)
    /// ENOENT
    public static let notFound = SystemError(ENOENT)
    /// ECONNREFUSED
    public static let connectionRefused = SystemError(ECONNREFUSED)
    /// EACCES
    public static let accessDenied = SystemError(EACCES)
    /// EISDIR
    public static let isDirectory = SystemError(EISDIR)
    /// EEXIST
    public static let alreadyExists = SystemError(EEXIST)
    /// EWOULDBLOCK
    public static let wouldBlock = SystemError(EWOULDBLOCK)
    /// EIO
    public static let inputOutput = SystemError(EIO)
    /// ENOSPC
    public static let noSpace = SystemError(ENOSPC)
    /// EROFS
    public static let readOnly = SystemError(EROFS)
    /// ELOOP: a link that must not be followed.
    public static let link = SystemError(ELOOP)

    /// The C library's description, such as "No space left on device".
    public var description: String { String(cString: strerror(code)) }
}
