import Baton
import Foundation
import Testing

@Suite("Text out of bodies")
struct HTTPTextTests {
    @Test(
        "The mark decides, then the charset, else it is UTF-8",
        arguments: [
            ([0x68, 0xC3, 0xA9], nil, "hé"), ([0xEF, 0xBB, 0xBF, 0x68], "text/plain; charset=iso-8859-1", "h"),
            ([0x68, 0xE9], "text/plain;charset=ISO-8859-1", "hé"),
            ([0x80, 0xE9], "text/plain; charset=\"windows-1252\"", "€é"),
            ([0xFF, 0xFE, 0xE9, 0x00], "text/plain", "é"), ([0xFE, 0xFF, 0x00, 0xE9], nil, "é"),
            ([0x00, 0xE9], "text/plain; charset=utf-16", "é"), ([0xE9, 0x00], "text/plain; charset=utf-16le", "é"),
            ([0xFF, 0xFE, 0, 0, 0xE9, 0, 0, 0], nil, "é"), ([0, 0, 0xFE, 0xFF, 0, 1, 0xF6, 0], nil, "😀"),
            ([0, 0, 0, 0xE9], "a/b; q=1 ; CharSet = utf-32be", "é"), ([0x68], "text/plain; charset=unheard-of", "h"),
            ([0x68], "text/plain; charset=", "h"), ([0x68], "charset", "h"), ([], nil, ""),
            ([0xEF, 0xBB, 0xBF], nil, ""),
            ([0x83, 0x41], "text/plain; charset=Shift_JIS", "ア"),
            ([0xD8, 0x3D, 0xDE, 0x00], "a/b;charset=utf-16be", "😀"),
        ] as [([UInt8], String?, String)])
    func decoded(bytes: [UInt8], contentType: String?, text: String) {
        #expect(HTTPText.decode(body: Data(bytes), contentType: contentType) == text)
    }

    @Test(
        "Bytes that are no text of their encoding give nil",
        arguments: [
            ([0x68, 0xE9], nil), ([0xC3], "text/plain; charset=utf-8"), ([0x00], "a/b; charset=utf-16"),
            ([0xD8, 0x3D], "a/b; charset=utf-16be"), ([0, 0x11, 0, 0], "a/b; charset=utf-32be"),
            ([0xEF, 0xBB, 0xBF, 0xFF], nil),
        ] as [([UInt8], String?)])
    func undecodable(bytes: [UInt8], contentType: String?) {
        #expect(HTTPText.decode(body: Data(bytes), contentType: contentType) == nil)
    }

    @Test("A slice of a body is read as the slice it is")
    func slice() {
        let body = Data([0xFF, 0xFF, 0xFE, 0xFF, 0x00, 0xE9])[2...]
        #expect(HTTPText.decode(body: body, contentType: nil) == "é")
    }
}
