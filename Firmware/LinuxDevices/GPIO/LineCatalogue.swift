import Glibc
import ProtocolCore

/// All GPIO lines of a board at one moment.
struct LineCatalogue {
    struct Line: Hashable {
        /// The name of the line; empty if it has none.
        var name = ""
        /// The user of the line, if it is in use and the kernel has a name for it.
        var consumer = ""
        var isUsed = false
        var isOutput = false
        var isActiveLow = false
    }

    struct Chip {
        var name: String
        var label: String
        var lines: [Line]

        var description: String { label.isEmpty ? name : "\(name) (\(label))" }
    }

    /// A line that matches a ``LinePlace``.
    struct Found: Hashable {
        var chip: String
        var offset: UInt32
        var line: Line

        var key: LineKey { LineKey(chip: chip, offset: offset) }
    }

    /// The reason why a place does not identify one line, with a hint.
    struct Unknown: Error, Hashable, CustomStringConvertible {
        var description: String
    }

    var chips: [Chip]
    /// The devices of chips that could not be opened, with the system's error numbers.
    var unopened: [(path: String, error: Int32)] = []

    func find(_ place: LinePlace) throws(Unknown) -> Found {
        guard !chips.isEmpty else { throw Unknown(description: withoutChips) }
        return switch place {
        case .named(let name): try find(named: name)
        case .chip(let chip, let offset): try find(chip, offset)
        }
    }

    private func find(named name: String) throws(Unknown) -> Found {
        let all = chips.flatMap { chip in
            chip.lines.enumerated().map { Found(chip: chip.name, offset: UInt32($0.offset), line: $0.element) }
        }
        let found = all.filter { $0.line.name == name }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            let places = found.map { "line \($0.offset) of \($0.chip)" }.joined(separator: " and ")
            throw Unknown(description: "\(places) are both named \(name): use chip and offset instead of the name")
        }
        let nearest = Suggestion.nearest(to: name, among: all.map(\.line.name).filter { !$0.isEmpty })
        let hint = nearest.map { "did you mean \($0)?" } ?? "gpioinfo lists all lines"
        throw Unknown(description: "no line has the name \(name)\(besideUnopened): \(hint)")
    }

    private func find(_ place: String, _ offset: UInt32) throws(Unknown) -> Found {
        let named = chips.filter { $0.name == place || "/dev/" + $0.name == place }
        let found = named.isEmpty ? chips.filter { $0.label == place } : named
        guard found.count < 2 else {
            let names = found.map(\.name).joined(separator: " and ")
            throw Unknown(description: "\(names) both have the label \(place): use the chip's name instead")
        }
        guard let chip = found.first else {
            let known = chips.map(\.description).joined(separator: ", ")
            throw Unknown(description: "there is no GPIO chip \(place)\(besideUnopened): the chips are \(known)")
        }
        guard offset < chip.lines.count else {
            throw Unknown(
                description:
                    "\(chip.description) has \(chip.lines.count) lines, counted from 0, so line \(offset) does not exist: "
                    + "gpioinfo lists them")
        }
        return Found(chip: chip.name, offset: offset, line: chip.lines[Int(offset)])
    }

    private var withoutChips: String {
        guard let first = unopened.first else {
            return "there is no GPIO chip (/dev/gpiochip0 and so on): is this the correct board, and is its GPIO "
                + "driver loaded?"
        }
        return "\(first.path) cannot be opened: " + Self.reason(first.error, hint: true)
    }

    private var besideUnopened: String {
        guard let first = unopened.first else { return "" }
        return " (\(first.path) could not be read: \(Self.reason(first.error, hint: false)))"
    }

    /// Returns an error message for the kernel's rejection of a line or a chip.
    static func reason(_ error: Int32, hint: Bool) -> String {
        let text = String(cString: strerror(error)).lowercased()
        guard hint else { return text }
        return switch error {
        case EACCES, EPERM:
            text
                + ": add plugd's user to the group gpio, or let a udev rule give /dev/gpiochip* to a group of this user"
        case ELIBACC:
            "plugd needs libgpiod for GPIO lines, but neither libgpiod.so.3 nor libgpiod.so.2 can be loaded: "
                + "install the package libgpiod3 or libgpiod2"
        case ENOTTY where gpioInterface == 2: text + ": libgpiod 2 needs Linux 5.10 or later"
        case ENOTTY: text + ": the kernel was built without the first GPIO interface, which libgpiod 1 needs"
        case EINVAL: text + ": the chip may not support the request: try bias = \"as-is\""
        default: text
        }
    }
}
