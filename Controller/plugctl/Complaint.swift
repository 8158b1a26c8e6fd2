import DurableFiles

/// What is wrong, in words for the person at the terminal.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) {
        description = "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")
    }
}
