import CProcessSetup

/// Makes a program independent of what its parent process left to it: closed descriptors, ignored or blocked signals, timers, and the file
/// mode creation mask.
public enum ProcessSetup {
    /// Resets the inherited state. It has been reset before `main` began, by the constructor of the C library that this call links.
    public static func reset() { process_setup() }
}
