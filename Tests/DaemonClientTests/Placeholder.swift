@testable import DaemonClient
import Testing
