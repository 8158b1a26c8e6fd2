/// A key as the terminal reports it.
public enum Key: Hashable, Sendable {
    case character(Character)
    /// With the Control key; the letter is lower case.
    case control(Character)
    /// With the Alt key (or after Escape, which looks the same).
    case alt(Character)
    case enter, tab, backTab, backspace, escape
    case up, down, left, right
    case home, end, pageUp, pageDown, insert, delete
    /// F1 to F12.
    case function(Int)

    /// In raw mode Control-C comes as a key and no longer as a signal: whoever reads keys ends the program on it.
    public static let interrupt = Key.control("c")
}
