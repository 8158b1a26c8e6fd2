import CPlugInHand
public import PlugModel

/// Which plug's words a thread is handling: a process that dies by a fault meanwhile can leave its id to the next one. To say so costs a
/// few nanoseconds and no call of the kernel.
public enum PlugInHand {
    /// Where nobody knows whose words they are, what was said before stays.
    public static func during<Result>(_ plug: PlugID?, _ work: () throws -> Result) rethrows -> Result {
        guard let plug, let number = UInt64(plug.rawValue, radix: 16) else { return try work() }
        // The bit tells plug 000000000000 from no plug.
        let before = plug_in_hand(number | plug_is_in_hand)
        defer { _ = plug_in_hand(before) }
        return try work()
    }

    /// From now on a fault that ends the process leaves one line in this file, which is empty until then: the signal's number, the plug
    /// that the thread had in hand or "-", and the seconds since 1970.
    ///
    /// - Returns: the number of the system's error; nil where it works.
    package static func leave(in path: String) -> Int32? {
        let error = leave_plug_in_hand(path)
        return error == 0 ? nil : error
    }
}
