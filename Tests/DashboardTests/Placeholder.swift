@testable import Dashboard
import Testing
