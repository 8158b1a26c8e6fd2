import LinuxSystem

/// An error for the user at the terminal. The argument parser prints it and exits with status 1.
struct CLIError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) {
        description = "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")
    }
}
