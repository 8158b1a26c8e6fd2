/// The form of a value, together with its reader. One declaration yields both, so they cannot disagree.
struct Shape<Value: Sendable>: Sendable {
    let form: Form
    /// Reads the value of the key. Reports every mistake, and returns nil after a mistake.
    let read: @Sendable (inout RuleReader, YAMLTree, _ key: String) -> Value?

    init(_ form: Form, read: @escaping @Sendable (inout RuleReader, YAMLTree, _ key: String) -> Value?) {
        self.form = form
        self.read = read
    }

    func map<Other>(_ body: @escaping @Sendable (Value) -> Other) -> Shape<Other> {
        Shape<Other>(form) { reader, tree, key in read(&reader, tree, key).map(body) }
    }

    /// Returns a shape that accepts this value or another of a different kind (single value, list, mapping).
    func or(_ other: Shape) -> Shape {
        let forms: [Form] = [self, other].flatMap {
            if case .either(let forms) = $0.form { forms } else { [$0.form] }
        }
        return Shape(.either(forms)) { reader, tree, key in
            if form.takes(tree) { return read(&reader, tree, key) }
            if other.form.takes(tree) { return other.read(&reader, tree, key) }
            reader.reportKind(of: tree, key, .either(forms))
            return nil
        }
    }

    /// Returns a shape that accepts one value or a list of values.
    ///
    /// - Parameter tooManyHint: the hint for a list that is too long.
    func oneOrMore(of what: String, tooManyHint: String = "split it into several rules") -> Shape<[Value]> {
        Shape<[Value]>(.oneOrMore(form, of: what)) { reader, tree, key in
            guard form.takes(tree) || tree.isList else {
                reader.reportKind(of: tree, key, .oneOrMore(form, of: what))
                return nil
            }
            return reader.each(tree, of: what, tooManyHint: tooManyHint) { read(&$0, $1, key) }
        }
    }

    /// Returns a shape that accepts a list whose number of values is in the range.
    func list(of what: String, _ count: ClosedRange<Int>) -> Shape<[Value]> {
        Shape<[Value]>(.list(form, of: what, count: count)) { reader, tree, key in
            // If the length is variable, `each` reports a wrong length more precisely.
            guard case .list(let list) = tree.value, count.contains(list.count) || count.lowerBound < count.upperBound
            else {
                reader.reportKind(of: tree, key, .list(form, of: what, count: count))
                return nil
            }
            return reader.each(tree, of: what) { read(&$0, $1, key) }
        }
    }
}

extension Form {
    /// Returns true if the value is of the right kind: a single value, a list or a mapping.
    func takes(_ tree: YAMLTree) -> Bool {
        switch (self, tree.value) {
        case (.text, .scalar), (.count, .scalar), (.words, .scalar), (.list, .list), (.mapping, .mapping): true
        case (.oneOrMore(let form, _), _): tree.isList || form.takes(tree)
        case (.either(let forms), _): forms.contains { $0.takes(tree) }
        case (.text, _), (.count, _), (.words, _), (.list, _), (.mapping, _): false
        }
    }
}

extension Shape where Value == String {
    /// Text for users or programs. `isEmptyAllowed`: the text may be empty, as for an argument of a program.
    static func text(most: Int, pattern: String? = nil, isEmptyAllowed: Bool = false, _ examples: String...) -> Shape {
        Shape(.text(TextForm(pattern: pattern, most: most, examples: examples))) { reader, tree, key in
            reader.text(tree, of: key, most: most, isEmptyAllowed: isEmptyAllowed)
        }
    }

    /// The name of a plug or a rule.
    static func name(_ examples: String...) -> Shape {
        // The pattern excludes ".", "..", spaces at the ends and control characters.
        let control = #"\u0000-\u001F\u007F-\u009F"#
        let pattern = #"^(?!\.{1,2}$)[^\s"# + control + "]([^" + control + #"]*[^\s"# + control + "])?$"
        return Shape(.text(TextForm(pattern: pattern, most: RuleFileLimits.nameBytes, examples: examples))) {
            $0.name($1, of: $2)
        }
    }
}

extension Shape where Value == Int {
    static func count(_ range: ClosedRange<Int>) -> Shape {
        Shape(.count(range)) { reader, tree, key in
            reader.quantity(tree, of: key) { text throws(Mistake) in try Quantities.count(text, in: range) }
        }
    }
}

extension Shape {
    static func quantity(_ kind: QuantityKind<Value>) -> Shape {
        Shape(.text(TextForm(pattern: kind.pattern, examples: kind.examples))) { reader, tree, key in
            reader.quantity(tree, of: key, read: kind.read)
        }
    }

    /// A word from a fixed set, each with its value and its meaning for users.
    static func words(_ words: [(String, Value, String)]) -> Shape {
        Shape(.words(words.map { Word(text: $0.0, summary: $0.2) })) { reader, tree, key in
            reader.choice(tree, of: key, among: words.map { ($0.0, $0.1) })
        }
    }

    /// A shape whose values also contain their own place and the places of their words.
    var placed: Shape<Placed<Value>> {
        Shape<Placed<Value>>(form) { reader, tree, key in
            read(&reader, tree, key).map { Placed(value: $0, places: PartPlaces(tree)) }
        }
    }

    static func mapping(_ mapping: @autoclosure @escaping @Sendable () -> Mapping<Value>) -> Shape {
        Shape(.mapping { mapping().form }) { reader, tree, _ in mapping().read(&reader, tree) }
    }
}
