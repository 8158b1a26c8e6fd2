import Glibc

/// What the kernel said when a call failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, such as ENOSPC.
    public let code: Int32

    public init(_ code: Int32) { self.code = code }

    public static let interrupted = SystemError(EINTR)
    public static let notFound = SystemError(ENOENT)
    public static let accessDenied = SystemError(EACCES)
    public static let isDirectory = SystemError(EISDIR)
    public static let alreadyExists = SystemError(EEXIST)
    public static let wouldBlock = SystemError(EWOULDBLOCK)
    public static let inputOutput = SystemError(EIO)
    public static let noSpace = SystemError(ENOSPC)
    public static let readOnly = SystemError(EROFS)
    /// A link where none may be.
    public static let link = SystemError(ELOOP)

    /// The C library's sentence, such as "No space left on device".
    public var description: String { String(cString: strerror(code)) }
}
