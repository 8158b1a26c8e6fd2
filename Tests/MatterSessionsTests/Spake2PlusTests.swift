import MatterCryptography
import MatterWire
import Testing

@testable import MatterSessions

@Suite struct Spake2PlusTests {
    private struct Vector {
        var context: String
        var w0: String
        var w1: String
        var x: String
        var y: String
        var l: String
        var proverShare: String
        var verifierShare: String
        var z: String
        var v: String
        var hash: String
        var proverConfirmation: String
        var verifierConfirmation: String
    }

    /// RFC 9383, appendix C. The confirmations are those of Matter's key schedule; a separate program computed them.
    private static let rfc = Vector(
        context: "SPAKE2+-P256-SHA256-HKDF-SHA256-HMAC-SHA256 Test Vectors",
        w0: "bb8e1bbcf3c48f62c08db243652ae55d3e5586053fca77102994f23ad95491b3",
        w1: "7e945f34d78785b8a3ef44d0df5a1a97d6b3b460409a345ca7830387a74b1dba",
        x: "d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539",
        y: "717a72348a182085109c8d3917d6c43d59b224dc6a7fc4f0483232fa6516d8b3",
        l: """
            04eb7c9db3d9a9eb1f8adab81b5794c1f13ae3e225efbe91ea487425854c7fc00f00bfedcbd09b2400142d40a14f2064ef\
            31dfaa903b91d1faea7093d835966efd
            """,
        proverShare: """
            04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1de127727f418b5966afadfdd95a6e459\
            1d171056b333dab97a79c7193e341727
            """,
        verifierShare: """
            04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb5cc1ca7494db39e82ff2f50665255d76\
            173e09986ab46742c798a9a68437b048
            """,
        z: """
            04bbfce7dd7f277819c8da21544afb7964705569bdf12fb92aa388059408d50091a0c5f1d3127f56813b5337f9e4e67e2c\
            a633117a4fbd559946ab474356c41839
            """,
        v: """
            0458bf27c6bca011c9ce1930e8984a797a3419797b936629a5a937cf2f11c8b9514b82b993da8a46e664f23db7c01edc87\
            faa530db01c2ee405230b18997f16b68
            """,
        hash: "4c59e1ccf2cfb961aa31bd9434478a1089b56cd11542f53d3576fb6c2a438a29",
        proverConfirmation: "b6b09119a2f04b889532bec49c599330f5aa8c1f8a8553cc96ef9e2c3f2aa735",
        verifierConfirmation: "5d98987a90a83f91aead1a4e207e0adb5626102ff035a70c221078cbe3f1dcab")

    /// draft-bar-cfrg-spake2plus-01, whose key schedule Matter has.
    private static let draft = Vector(
        context: "SPAKE2+-P256-SHA256-HKDF draft-01",
        w0: "e6887cf9bdfb7579c69bf47928a84514b5e355ac034863f7ffaf4390e67d798c",
        w1: "24b5ae4abda868ec9336ffc3b78ee31c5755bef1759227ef5372ca139b94e512",
        x: "8b0f3f383905cf3a3bb955ef8fb62e24849dd349a05ca79aafb18041d30cbdb6",
        y: "2e0895b0e763d6d5a9564433e64ac3cac74ff897f6c3445247ba1bab40082a91",
        l: """
            0495645cfb74df6e58f9748bb83a86620bab7c82e107f57d6870da8cbcb2ff9f7063a14b6402c62f99afcb9706a4d1a143\
            273259fe76f1c605a3639745a92154b9
            """,
        proverShare: """
            04af09987a593d3bac8694b123839422c3cc87e37d6b41c1d630f000dd64980e537ae704bcede04ea3bec9b7475b32fa2c\
            a3b684be14d11645e38ea6609eb39e7e
            """,
        verifierShare: """
            04417592620aebf9fd203616bbb9f121b730c258b286f890c5f19fea833a9c900cbe9057bc549a3e19975be9927f0e7614\
            f08d1f0a108eede5fd7eb5624584a4f4
            """,
        z: """
            0471a35282d2026f36bf3ceb38fcf87e3112a4452f46e9f7b47fd769cfb570145b62589c76b7aa1eb6080a832e5332c368\
            98426912e29c40ef9e9c742eee82bf30
            """,
        v: """
            046718981bf15bc4db538fc1f1c1d058cb0eececf1dbe1b1ea08a4e25275d382e82b348c8131d8ed669d169c2e03a858db\
            7cf6ca2853a4071251a39fbe8cfc39bc
            """,
        hash: "f9cab9adcc0ed8e5a4db11a8505914b2801db297654816eb4f02868129b9dc89",
        proverConfirmation: "d4376f2da9c72226dd151b77c2919071155fc22a2068d90b5faa6c78c11e77dd",
        verifierConfirmation: "0660a680663e8c5695956fb22dff298b1d07a526cf3cc591adfecd1f6ef6e02e")

    @Test("Shares, secrets and keys have the results of RFC 9383 and of the draft") func vectorsMatch() throws {
        let cryptography = try OpenSSLCryptography()
        let hex = HandshakeBytes.hex
        for vector in [Self.rfc, Self.draft] {
            let (w0, w1, x, y) = (hex(vector.w0), hex(vector.w1), hex(vector.x), hex(vector.y))
            let l = try cryptography.multiply(nil, by: w1)
            #expect(l == hex(vector.l))
            let proverShare = try Spake2Plus.share(scalar: x, w0: w0, point: Spake2Plus.m, cryptography)
            let verifierShare = try Spake2Plus.share(scalar: y, w0: w0, point: Spake2Plus.n, cryptography)
            #expect(proverShare == hex(vector.proverShare))
            #expect(verifierShare == hex(vector.verifierShare))
            let prover = try Spake2Plus.proverSecrets(
                scalar: x, w0: w0, w1: w1, share: verifierShare, cryptography)
            let verifier = try Spake2Plus.verifierSecrets(
                scalar: y, w0: w0, l: l, share: proverShare, cryptography)
            for (z, v) in [prover, verifier] {
                #expect(z == hex(vector.z))
                #expect(v == hex(vector.v))
            }
            let transcript = Spake2Plus.Transcript(
                context: Array(vector.context.utf8), prover: Array("client".utf8), verifier: Array("server".utf8),
                proverShare: proverShare, verifierShare: verifierShare, z: prover.z, v: prover.v, w0: w0)
            #expect(transcript.hash == hex(vector.hash))
            let keys = Spake2Plus.Keys(transcript)
            #expect(keys.proverConfirmation == hex(vector.proverConfirmation))
            #expect(keys.verifierConfirmation == hex(vector.verifierConfirmation))
            #expect(keys.shared == Array(hex(vector.hash).suffix(16)))
        }
    }

    @Test("The verifier of the reference implementation's test passcode is the known one")
    func verifierMatches() throws {
        let cryptography = try OpenSSLCryptography()
        let salt = Array("SPAKE2P Key Salt".utf8)
        let verifier = try SpakeVerifier(passcode: 20_202_021, salt: salt, iterations: 1000, cryptography)
        let expected = HandshakeBytes.hex(
            """
            B96170AAE803346884724FE9A3B287C30330C2A660375D17BB205A8CF1AECB35\
            0457F8AB79EE253AB6A8E46BB09E543AE422736DE501E3DB37D441FE344920D09548E4C18240630C4FF4913C53513839B7\
            C07FCC0627A1B8573A149FCD1FA466CF
            """)
        #expect(verifier.encoded == expected)
        #expect(try SpakeVerifier(encoded: expected, salt: salt, iterations: 1000) == verifier)
        #expect(!"\(verifier)".contains("185"))
    }

    @Test("A verifier with an invalid point, scalar, salt or count of iterations is rejected")
    func invalidVerifiersAreRejected() throws {
        let cryptography = try OpenSSLCryptography()
        let salt = [UInt8](repeating: 1, count: 16)
        let good = try SpakeVerifier(passcode: 1234, salt: salt, iterations: 1000, cryptography).encoded
        var wrongPoint = good
        wrongPoint[96] ^= 1
        let zero = [UInt8](repeating: 0, count: 32) + good.suffix(65)
        let tooLarge = [UInt8](repeating: 255, count: 32) + good.suffix(65)
        for encoded in [[], Array(good.dropLast()), good + [0], wrongPoint, zero, tooLarge] {
            #expect(throws: MatterError.self) { try SpakeVerifier(encoded: encoded, salt: salt, iterations: 1000) }
        }
        for (salt, iterations) in [
            (Array(salt.dropLast()), 1000), (salt + salt + [1], 1000), (salt, 999), (salt, 100_001),
        ] as [([UInt8], UInt32)] {
            #expect(throws: MatterError.self) {
                try SpakeVerifier(passcode: 1234, salt: salt, iterations: iterations, cryptography)
            }
            #expect(throws: MatterError.self) { try SpakeVerifier(encoded: good, salt: salt, iterations: iterations) }
        }
    }
}
