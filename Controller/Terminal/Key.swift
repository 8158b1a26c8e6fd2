/// A key as the terminal reports it.
public enum Key: Hashable, Sendable {
    case character(Character)
    /// A letter with the Control key, in lower case.
    case control(Character)
    /// A character with the Alt key, or after the Escape key, which sends the same bytes.
    case alt(Character)
    case enter, tab, backTab, backspace, escape
    case up, down, left, right
    case home, end, pageUp, pageDown, insert, delete
    /// A function key, F1 to F12.
    case function(Int)
    /// The left button of the mouse was pressed. The upper left place is (0, 0). Turns of the wheel are ``up`` and
    /// ``down``.
    case click(column: Int, row: Int)

    /// Control-C. In raw mode it is a key instead of a signal, so the program that reads keys must end when it receives
    /// this key.
    public static let interrupt = Key.control("c")
}
