import Logging

/// What is wrong, in words for the person at the terminal.
struct Complaint: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Says on standard error what went wrong.
func complain(_ text: String) {
    var standardError = StandardError()
    print("plugd: \(text)", to: &standardError)
}
