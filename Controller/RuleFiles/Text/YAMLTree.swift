import Yams

/// A YAML value with its place.
struct YAMLTree {
    indirect enum Value {
        case scalar(String)
        case list([YAMLTree])
        case mapping([Entry])
    }

    struct Entry {
        var key: String
        var place: Place
        var value: YAMLTree
    }

    var place: Place
    var value: Value
    /// The number of values in the tree, including the tree itself, after each alias has been replaced.
    var size: Int

    /// The character that replaces the alias indicator `*` while the YAML library reads the text. A plain scalar cannot
    /// begin with the indicator, so a scalar that begins with the mark is an alias. This type then resolves the
    /// aliases, keeps the place of each, and counts the values that replace them. The library would compare keys with
    /// expanded aliases without a limit.
    static let aliasMark: Unicode.Scalar = "\u{E000}"

    /// Reads the only document of the file. An empty file is an empty list.
    static func read(_ source: SourceText) throws(Fault) -> YAMLTree {
        let start = Place(line: 1, column: 1)
        guard source.text.utf8.count <= RuleFileLimits.bytes else {
            throw Fault(
                start, "the file is larger than \(RuleFileLimits.bytes >> 20) MiB", hint: "split it into several files")
        }
        if let (place, scalar) = source.firstForbidden {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            throw Fault(
                place,
                "the character U+\(padded) is not allowed in a rule file",
                hint: "delete it; it may be invisible in your editor")
        }
        if let place = NestingScan.firstDeeper(than: RuleFileLimits.depth, in: source) { throw .tooDeep(place) }
        let text = String(String.UnicodeScalarView(source.text.unicodeScalars.map { $0 == "*" ? aliasMark : $0 }))
        let parser: Parser
        let root: Node?
        do {
            // The basic resolver reads every plain scalar as text: `on` is not a Boolean and `17:00` is not a number.
            parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            root = try parser.singleRoot()
        } catch let error as YamlError {
            throw Fault(error, in: source)
        } catch {
            throw Fault(start, "not valid YAML: \(error)")
        }
        // The parser owns the anchors; nodes refer to them weakly.
        return try withExtendedLifetime(parser) { () throws(Fault) -> YAMLTree in
            guard let root else { return YAMLTree(place: start, value: .list([]), size: 1) }
            var builder = TreeBuilder()
            return try builder.build(root, depth: 1)
        }
    }
}

/// Converts the library's nodes to a tree, in the order of the document.
private struct TreeBuilder {
    /// The values of the anchors that were read completely. A value cannot contain an alias of the anchor that names
    /// it. A later anchor replaces an earlier one of the same name.
    private var anchors: [String: YAMLTree] = [:]

    mutating func build(_ node: Node, depth: Int) throws(Fault) -> YAMLTree {
        let place = Place(node.mark)
        guard depth <= RuleFileLimits.depth else {
            throw .tooDeep(place)
        }
        try refuseTag(of: node, place)
        let tree: YAMLTree
        switch node {
        case .scalar(let scalar):
            if let name = aliasName(scalar) { return try resolve(name, place) }
            tree = YAMLTree(place: place, value: .scalar(try Self.ordered(scalar.string, place)), size: 1)
        case .sequence(let sequence):
            var list: [YAMLTree] = []
            var size = 1
            for element in sequence {
                list.append(try build(element, depth: depth + 1))
                size = try sum(size, list[list.count - 1].size, place)
            }
            tree = YAMLTree(place: place, value: .list(list), size: size)
        case .mapping(let mapping):
            var entries: [YAMLTree.Entry] = []
            var size = 1
            for (key, value) in mapping {
                let keyPlace = Place(key.mark)
                guard case .scalar(let scalar) = key, aliasName(scalar) == nil else {
                    throw Fault(
                        keyPlace, "a key must be plain text", hint: "write 'key: value'; a list entry begins with '- '")
                }
                let built = try build(value, depth: depth + 1)
                let name = try Self.ordered(scalar.string, keyPlace)
                entries.append(YAMLTree.Entry(key: name, place: keyPlace, value: built))
                size = try sum(size, built.size, place)
            }
            tree = YAMLTree(place: place, value: .mapping(entries), size: size)
        case .alias:
            throw Fault(place, "the alias cannot be resolved")
        }
        if let anchor = node.anchor { anchors[anchor.rawValue] = tree }
        return tree
    }

    private func aliasName(_ scalar: Node.Scalar) -> String? {
        guard scalar.style == .plain, scalar.string.unicodeScalars.first == YAMLTree.aliasMark else { return nil }
        return Self.text(String(scalar.string.unicodeScalars.dropFirst()))
    }

    /// Returns the anchor's value with the place of the alias, where the user must correct a mistake. Its parts keep
    /// their own places.
    private func resolve(_ name: String, _ place: Place) throws(Fault) -> YAMLTree {
        guard var tree = anchors[name] else {
            throw Fault(
                place, "the alias '*\(name)' has no anchor before it",
                hint: "write '&\(name)' before the value that it refers to, or quote the text")
        }
        tree.place = place
        return tree
    }

    private func sum(_ size: Int, _ more: Int, _ place: Place) throws(Fault) -> Int {
        guard size + more <= RuleFileLimits.values else {
            throw Fault(
                place, "more than \(RuleFileLimits.values) values after the expansion of aliases",
                hint: "split the file, or use fewer aliases in anchored values")
        }
        return size + more
    }

    private func refuseTag(of node: Node, _ place: Place) throws(Fault) {
        let tag = node.tag.description
        let standard = ["str", "seq", "map"].map { "tag:yaml.org,2002:" + $0 }
        guard standard.contains(tag) else {
            throw Fault(place, "unknown tag '\(tag)'", hint: "delete it; rule files do not use tags")
        }
    }

    /// Returns the text, or throws if it has a character that changes the display order. The file itself has no such
    /// characters, but an escape such as `\u202E` can produce one.
    private static func ordered(_ marked: String, _ place: Place) throws(Fault) -> String {
        guard !marked.unicodeScalars.contains(where: SourceText.isReordering) else {
            throw Fault(
                place, "an escape makes the text after it appear in another order than it is stored",
                hint: "delete \\u202A to \\u202E and \\u2066 to \\u2069")
        }
        return text(marked)
    }

    private static func text(_ marked: String) -> String {
        String(String.UnicodeScalarView(marked.unicodeScalars.map { $0 == YAMLTree.aliasMark ? "*" : $0 }))
    }
}

extension Fault {
    fileprivate static func tooDeep(_ place: Place) -> Fault {
        Fault(
            place, "lists and mappings are nested more than \(RuleFileLimits.depth) deep",
            hint: "check for an open bracket; nested conditions can be six levels deep, or more without lists")
    }
}

extension Place {
    fileprivate init(_ mark: Mark?) { self.init(line: mark?.line ?? 1, column: mark?.column ?? 1) }
}
