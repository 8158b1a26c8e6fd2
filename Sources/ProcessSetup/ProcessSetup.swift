import CProcessSetup

/// Makes a program independent of the state that it inherits from its parent process: closed descriptors, ignored or
/// blocked signals, timers, and the file mode creation mask.
public enum ProcessSetup {
    /// Resets the inherited state. The constructor of the module CProcessSetup has already done so before `main`; this
    /// call only makes the linker include that module.
    public static func reset() { process_setup() }
}
