import LinuxSystem

/// An error with a text for the user.
struct CLIError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) {
        description = "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")
    }
}
