import HTTPTypes
import Presentation

/// The rejection of a request.
struct Refused: Error, Hashable {
    /// The status of the answer, 400...599.
    var status: Int
    var fault: FaultRecord
    /// Additional headers of the answer.
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
