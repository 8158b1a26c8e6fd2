import AddressService
import Testing

@Suite("Who gives an interface its addresses")
struct AddressingModeTests {
    @Test("is chosen by one of three words")
    func words() {
        #expect(AddressingMode.allCases.map(\.rawValue) == ["manage", "observe", "auto"])
    }
}
