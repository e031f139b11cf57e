import Baton
import Foundation
import Testing

@Suite("What is kept out of logs, errors and recordings") struct RedactionTests {
    let redaction = Redaction()

    @Test(
        "L62 Fields that carry credentials lose their values, however their names are written",
        arguments: [
            "authorization", "AUTHORIZATION", "Cookie", "Set-Cookie", "Proxy-Authorization", "api-key", "X-Api-Key",
            "x_auth_token", "X-CSRF-Token", "X-Amz-Security-Token", "Ocp-Apim-Subscription-Key",
        ])
    func fields(_ name: String) {
        let value = redaction.fields([HTTPFieldName(name): "Bearer S3CRET"])[HTTPFieldName(name)]
        #expect(value?.contains("S3CRET") == false)
        #expect(value?.contains("REDACTED") == true)
    }

    @Test("Fields that carry none stay as they are")
    func harmless() {
        let fields: HTTPFields = ["Accept": "text/html; q=0.9", "Location": "https://h/a?page=2", "ETag": "\"x\""]
        #expect(redaction.fields(fields) == fields)
    }

    @Test(
        "L62 URLs lose user info and secret parameters, and keep the rest",
        arguments: [
            ("https://u:S3CRET@h/a", "https://REDACTED@h/a"),
            ("/a?access_token=S3CRET&page=2", "/a?access_token=REDACTED&page=2"),
            ("https://h?api%5Fkey=S3CRET", "https://h?api%5Fkey=REDACTED"),
            ("/a?key=S3CRET#token=S3CRET", "/a?key=REDACTED#token=REDACTED"),
            ("/a?page=2&max_tokens=5", "/a?page=2&max_tokens=5"), ("/a?token=", "/a?token="),
            ("https://h/@me?q=a@b", "https://h/@me?q=a@b"),
        ])
    func urls(_ url: String, _ clean: String) {
        #expect(redaction.url(url) == clean)
    }

    @Test(
        "L62 JSON loses the values of secret keys at any depth, and keeps its other bytes",
        arguments: [
            (
                #"{ "password" : "S3CRET", "n": 12345678901234567890.10 }"#,
                #"{ "password" : "REDACTED", "n": 12345678901234567890.10 }"#
            ),
            (#"[{"Token":{"a":["S3CRET",7,null]}},"x"]"#, #"[{"Token":{"a":["REDACTED",0,null]}},"x"]"#),
            (#"{"pass\u0077ord":"S3\"CRET"}"#, #"{"pass\u0077ord":"REDACTED"}"#),
            (#"{"clientSecret":"S3CR"#, #"{"clientSecret":"REDACTED"#),
            (#"{"link":"https://u:S3CRET@h/?api_key=S3CRET"}"#, #"{"link":"https://REDACTED@h/?api_key=REDACTED"}"#),
            (#"{"key":"name","usage":{"total_tokens":9}}"#, #"{"key":"name","usage":{"total_tokens":9}}"#),
        ])
    func json(_ body: String, _ clean: String) {
        let result = redaction.body(Data(body.utf8), contentType: "application/json")
        #expect(String(decoding: result, as: UTF8.self) == clean)
    }

    @Test("L62 Forms and multipart bodies lose the values of secret names")
    func forms() {
        let form = redaction.body(
            Data("user=ada&pass%77ord=S3CRET".utf8), contentType: "application/x-www-form-urlencoded")
        #expect(String(decoding: form, as: UTF8.self) == "user=ada&pass%77ord=REDACTED")
        let parts = """
            --b\r\nContent-Disposition: form-data; name="password"\r\n\r\nS3CRET\r\n\
            --b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/json\r\n\r\n\
            {"token":"S3CRET"}\r\n--b--\r\n
            """
        let clean = redaction.body(Data(parts.utf8), contentType: "multipart/form-data; boundary=b")
        #expect(String(decoding: clean, as: UTF8.self) == parts.replacing("S3CRET", with: "REDACTED"))
    }

    @Test(
        "L62 Text loses credentials after their scheme and values after secret names",
        arguments: [
            (
                "could not reach https://u:S3CRET@h/a?token=S3CRET, retrying",
                "could not reach https://REDACTED@h/a?token=REDACTED, retrying"
            ),
            ("sent Bearer S3CRET to h", "sent Bearer REDACTED to h"),
            ("Authorization: Basic S3CRET==", "Authorization: Basic REDACTED"),
            (#"data: {"password": "S3CRET"}"#, #"data: {"password": "REDACTED"}"#),
            ("a basic idea, a token of thanks: 1=1", "a basic idea, a token of thanks: 1=1"),
        ])
    func text(_ text: String, _ clean: String) {
        #expect(redaction.text(text) == clean)
    }

    @Test("L62 Names can be added, and bytes that are not text stay as they are")
    func extending() {
        var redaction = redaction
        redaction.add("X-Ticket", "iban")
        #expect(redaction.fields(["x-ticket": "S3CRET"])["X-Ticket"] == "REDACTED")
        #expect(redaction.url("/a?IBAN=S3CRET") == "/a?IBAN=REDACTED")
        let binary = Data([0xFF, 0x00, 0xFE] + Array("token=abc".utf8))
        #expect(redaction.body(binary, contentType: "application/octet-stream") == binary)
    }
}
