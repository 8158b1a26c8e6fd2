/// The figures that each group has to have, so that none is left out unnoticed. A number in a name, such as a count that the short form
/// lowers, is written as #; a figure that stands beside several references is named once.
enum ExpectedFigures {
    /// - Throws: when one of them is not among the group's figures, or one of these is no number, or zero and may not be.
    static func check(_ figures: [Figure], of group: String) throws {
        let measured = Set(figures.map { withoutNumbers($0.name) })
        if let missing = (all[group] ?? []).first(where: { !measured.contains($0) }) {
            throw Complaint("\(group): \"\(missing)\" was not measured")
        }
        for figure in figures {
            let values = [figure.value] + (figure.reference.map { [$0.value] } ?? [])
            guard values.allSatisfy(\.isFinite) else { throw Complaint("\(group): \"\(figure.name)\" is no number") }
            let mayBeZero = zeros.contains(withoutNumbers(figure.name))
            guard mayBeZero || values.allSatisfy({ $0 != 0 }) else {
                throw Complaint("\(group): \"\(figure.name)\" or its reference is zero")
            }
        }
    }

    static func withoutNumbers(_ name: String) -> String {
        var result = ""
        var isNumber = false
        for character in name {
            let isDigit = character.isASCII && character.isNumber
            // A comma or a point inside a number belongs to it.
            if isDigit, !isNumber { result.append("#") }
            if !isDigit { result.append(character) }
            isNumber = isDigit
        }
        return result
    }
}
