import Foundation

/// A certificate for `shop.example` and 127.0.0.1, of December 2026 to 2027, and that of the authority which vouches for it.
enum SampleCertificates {
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIULpZEA+rCFTWb5ltCn7v41hen6skwCgYIKoZIzj0EAwIw
        GzEZMBcGA1UEAwwQU2FtcGxlIGF1dGhvcml0eTAeFw0yNjEyMDEwMzMzMDBaFw00
        NjExMjYwMzMzMDBaMBsxGTAXBgNVBAMMEFNhbXBsZSBhdXRob3JpdHkwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAASEUFTO9shYdKW2vP7h/k+9y3Vqu6U9gnXmMIuq
        Q2UAdymiqPvQGXZWCP56/WdZSFisgwlEQ822V0htxAQW7OL/o2MwYTAdBgNVHQ4E
        FgQUslbwxixq60rhiuRvY4BpH4laI2AwHwYDVR0jBBgwFoAUslbwxixq60rhiuRv
        Y4BpH4laI2AwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZI
        zj0EAwIDSAAwRQIgVrW81gMZTvb5nBX8taxamwWQvfmaRZjbGGmTCX4X65cCIQDN
        s1qeY5aFPEFuSRo3YiZjTpJjpE99xeIYzlGBSsk48Q==
        -----END CERTIFICATE-----
        """

    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBxTCCAWqgAwIBAgIUfKvYjVjb/754yyA6TILvxLAAgr4wCgYIKoZIzj0EAwIw
        GzEZMBcGA1UEAwwQU2FtcGxlIGF1dGhvcml0eTAeFw0yNjEyMDEwMzMzMDBaFw0y
        NzEyMjYwMzMzMDBaMBcxFTATBgNVBAMMDHNob3AuZXhhbXBsZTBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABNl9WBcinHFNGFnE613rogfPa864HR7mIfCN0tkpwNmo
        MNqy2qlw3H+rWo4O9gshoj2Bq/CHzMW4c1qNA/1ZxAqjgY8wgYwwHQYDVR0RBBYw
        FIIMc2hvcC5leGFtcGxlhwR/AAABMBMGA1UdJQQMMAoGCCsGAQUFBwMBMAsGA1Ud
        DwQEAwIHgDAJBgNVHRMEAjAAMB0GA1UdDgQWBBQ5HjzEv4Rz5/t7wL2pCB18rv0F
        szAfBgNVHSMEGDAWgBSyVvDGLGrrSuGK5G9jgGkfiVojYDAKBggqhkjOPQQDAgNJ
        ADBGAiEA7plNXhA7aFNeKa3mazqWAWD6U+MGiEKhNPzJ1/R67lgCIQCOpJZLw6kU
        8si6iHO3oe3wUp6DDYid+bPeHUw/DJ3FkQ==
        -----END CERTIFICATE-----
        """

    /// The server's key as `openssl` says it is pinned.
    static let pin = "sha256//4lUfE+81l9OH/wqP9dzKGPtnno5JUiARhLTbrvyi8BA="

    static func der(_ pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(Data(base64Encoded: lines.joined()) ?? Data())
    }
}
