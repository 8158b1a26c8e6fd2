import MatterWire
import Testing

@Suite struct HeaderTests {
    @Test("A header of an unsecured message and its protocol header are decoded")
    func unsecured() throws {
        let message = bytes("04 0000 00 78563412 0807060504030201 05 20 CDAB 0000 15 18")
        let (header, headerBytes, rest) = try MessageHeader.decode(message)
        #expect(header == MessageHeader(sessionID: 0, counter: 0x1234_5678, source: 0x0102_0304_0506_0708))
        #expect(headerBytes == message.prefix(16))
        #expect(header.encoded == Array(headerBytes))
        let (inner, payload) = try ProtocolHeader.decode(rest)
        #expect(
            inner
                == ProtocolHeader(
                    isInitiator: true, needsAcknowledgement: true,
                    opcode: SecureChannelOpcode.pbkdfParamRequest.rawValue, exchange: 0xABCD,
                    protocolID: MatterProtocol.secureChannel))
        #expect(Array(payload) == [0x15, 0x18])
        #expect(inner.encoded == Array(rest.prefix(6)))
    }

    @Test("All forms of the message header survive encoding") func messageHeaders() throws {
        for source in [nil, 7] as [UInt64?] {
            for destination in [.none, .node(.max), .group(0xFFFE)] as [MessageHeader.Destination] {
                for flags in 0..<8 {
                    let header = MessageHeader(
                        sessionID: 0x1234, counter: .max, source: source, destination: destination,
                        isGroupSession: flags & 1 != 0, isControl: flags & 2 != 0, hasPrivacy: flags & 4 != 0)
                    let (decoded, headerBytes, rest) = try MessageHeader.decode(header.encoded + [9])
                    #expect(decoded == header && decoded.securityFlags == headerBytes[3])
                    #expect(Array(rest) == [9])
                }
            }
        }
    }

    @Test("Message extensions are skipped, are part of the header bytes, and stay in the security flags")
    func messageExtensions() throws {
        let message = bytes("00 0100 3C 01000000 0300 AABBCC 0102")
        let (header, headerBytes, rest) = try MessageHeader.decode(message)
        #expect(header.securityFlags == 0x3C)
        #expect(headerBytes.count == 13 && Array(rest) == [1, 2])
        #expect(header.encoded == bytes("00 0100 00 01000000"))
    }

    @Test(
        "Invalid message headers are rejected",
        arguments: [
            "", "00 0100 00 010000", "10 0100 00 01000000", "03 0100 00 01000000", "00 0100 02 01000000",
            "04 0100 00 01000000 01", "01 0100 00 01000000 01", "02 0100 00 01000000 01", "00 0100 20 01000000 0200 01",
        ])
    func invalidMessageHeader(hexadecimal: String) {
        #expect(throws: MatterError.self) { try MessageHeader.decode(bytes(hexadecimal)) }
    }

    @Test("An acknowledgement, the standard vendor and secured extensions are decoded") func protocolHeader() throws {
        let (header, payload) = try ProtocolHeader.decode(bytes("1A 05 0100 0100 0000 04030201 0100 FF 77")[...])
        #expect(
            header
                == ProtocolHeader(
                    isInitiator: false, needsAcknowledgement: false, acknowledges: 0x0102_0304, opcode: 5, exchange: 1,
                    protocolID: MatterProtocol.interactionModel))
        #expect(Array(payload) == [0x77])
        #expect(header.encoded == bytes("02 05 0100 0100 04030201"))
    }

    @Test(
        "Invalid protocol headers and protocols of vendors are rejected",
        arguments: ["", "01 05 0100 01", "02 05 0100 0100 040302", "10 05 0100 0100 F1FF", "08 05 0100 0100 0200 01"])
    func invalidProtocolHeader(hexadecimal: String) {
        #expect(throws: MatterError.self) { try ProtocolHeader.decode(bytes(hexadecimal)[...]) }
    }

    @Test("Status reports have the bytes of the specification") func statusReports() throws {
        #expect(StatusReport.sessionEstablished.encoded == bytes("0000 00000000 0000"))
        #expect(StatusReport.noSharedTrustRoots.encoded == bytes("0100 00000000 0100"))
        #expect(StatusReport.invalidParameter.encoded == bytes("0100 00000000 0200"))
        #expect(StatusReport.closeSession.encoded == bytes("0000 00000000 0300"))
        #expect(StatusReport.busy(wait: 500).encoded == bytes("0800 00000000 0400 F401"))
        let report = StatusReport(generalCode: 16, protocolID: 0xFFF1_0002, protocolCode: 9, data: [1, 2])
        #expect(try StatusReport(decoding: report.encoded) == report)
        #expect(report.isSuccess == false)
        #expect(throws: MatterError.self) { try StatusReport(decoding: bytes("0000 00000000 00")) }
    }
}
