import HTTPTypes
import Presentation

/// Why a request is not obeyed.
struct Refused: Error, Hashable {
    /// Of the answer, 400...599.
    var status: Int
    var fault: FaultRecord
    /// What the answer says besides.
    var fields: [HTTPField.Name: String] = [:]

    init(_ status: Int, _ error: String, hint: String? = nil) {
        self.status = status
        fault = FaultRecord(error, hint: hint)
    }

    func with(_ name: HTTPField.Name, _ value: String) -> Refused {
        var refused = self
        refused.fields[name] = value
        return refused
    }
}
