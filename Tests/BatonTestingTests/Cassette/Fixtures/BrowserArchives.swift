/// Archives with the fields that browsers write.
enum BrowserArchives {
    static let chrome = #"""
        {
          "log": {
            "version": "1.2",
            "creator": { "name": "WebInspector", "version": "537.36" },
            "pages": [
              {
                "startedDateTime": "2026-03-05T10:11:12.130Z", "id": "page_1", "title": "https://shop.example.com/",
                "pageTimings": { "onContentLoad": 512.4, "onLoad": 733.9 }
              }
            ],
            "entries": [
              {
                "_connectionId": "31", "_initiator": { "type": "script", "stack": { "callFrames": [] } },
                "_priority": "High", "_resourceType": "fetch", "cache": {}, "connection": "443", "pageref": "page_1",
                "request": {
                  "method": "GET", "url": "https://shop.example.com/api/orders?page=2&sort=name",
                  "httpVersion": "http/2.0",
                  "headers": [
                    { "name": ":authority", "value": "shop.example.com" }, { "name": ":method", "value": "GET" },
                    { "name": "accept", "value": "*/*" }, { "name": "cookie", "value": "sid=abc" }
                  ],
                  "queryString": [ { "name": "page", "value": "2" }, { "name": "sort", "value": "name" } ],
                  "cookies": [
                    {
                      "name": "sid", "value": "abc", "path": "/", "domain": "shop.example.com",
                      "expires": "2026-12-05T10:11:12.130Z", "httpOnly": true, "secure": true, "sameSite": "Lax"
                    }
                  ],
                  "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [
                    { "name": "content-encoding", "value": "br" }, { "name": "content-length", "value": "9" },
                    { "name": "content-type", "value": "application/json; charset=utf-8" },
                    { "name": "set-cookie", "value": "a=1" }, { "name": "set-cookie", "value": "b=2" }
                  ],
                  "cookies": [],
                  "content": {
                    "size": 12, "mimeType": "application/json", "compression": 3, "text": "{\"total\": 3}"
                  },
                  "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 361, "_error": null,
                  "_fetchedViaServiceWorker": false
                },
                "serverIPAddress": "192.0.2.7", "startedDateTime": "2026-03-05T10:11:12.345Z",
                "time": 42.700000002514571,
                "timings": {
                  "blocked": 1.9, "dns": -1, "ssl": -1, "connect": -1, "send": 0.2, "wait": 39.1, "receive": 1.5,
                  "_blocked_queueing": 0.8, "_workerStart": -1, "_workerReady": -1
                }
              },
              {
                "_initiator": { "type": "other" }, "_priority": "Low", "_resourceType": "image", "cache": {},
                "request": {
                  "method": "GET", "url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=", "httpVersion": "",
                  "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "OK", "httpVersion": "", "headers": [], "cookies": [],
                  "content": { "size": 0, "mimeType": "image/gif" }, "redirectURL": "", "headersSize": -1,
                  "bodySize": 0, "_transferSize": 0, "_error": null
                },
                "serverIPAddress": "", "startedDateTime": "2026-03-05T10:11:12.400Z", "time": 0.1,
                "timings": { "blocked": -1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 0.1, "receive": 0 }
              },
              {
                "_initiator": { "type": "parser" }, "_priority": "High", "_resourceType": "image", "cache": {},
                "connection": "443", "pageref": "page_1",
                "request": {
                  "method": "GET", "url": "https://shop.example.com/dot.gif", "httpVersion": "http/2.0",
                  "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [ { "name": "content-type", "value": "image/gif" } ], "cookies": [],
                  "content": { "size": 6, "mimeType": "image/gif", "text": "R0lGODlh", "encoding": "base64" },
                  "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 102, "_error": null
                },
                "serverIPAddress": "192.0.2.7", "startedDateTime": "2026-03-05T10:11:12.500Z", "time": 9,
                "timings": { "blocked": 1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 7, "receive": 1 }
              },
              {
                "_initiator": { "type": "script" }, "_priority": "High", "_resourceType": "xhr", "cache": {},
                "request": {
                  "method": "GET", "url": "https://down.example.com/", "httpVersion": "", "headers": [],
                  "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
                  "content": { "size": 0, "mimeType": "x-unknown" }, "redirectURL": "", "headersSize": -1,
                  "bodySize": -1, "_transferSize": 0, "_error": "net::ERR_CONNECTION_REFUSED"
                },
                "serverIPAddress": "", "startedDateTime": "2026-03-05T10:11:12.600Z", "time": 3,
                "timings": { "blocked": 3, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 0, "receive": 0 }
              }
            ]
          }
        }
        """#

    static let firefox = #"""
        {
          "log": {
            "version": "1.2",
            "creator": { "name": "Firefox", "version": "136.0" },
            "browser": { "name": "Firefox", "version": "136.0" },
            "pages": [
              {
                "id": "page_1", "pageTimings": { "onContentLoad": 219, "onLoad": 230 },
                "startedDateTime": "2026-03-05T11:11:12.345+01:00", "title": "Sign in"
              }
            ],
            "entries": [
              {
                "startedDateTime": "2026-03-05T11:11:12.345+01:00",
                "request": {
                  "bodySize": 27, "method": "POST", "url": "https://shop.example.com/sign-in",
                  "httpVersion": "HTTP/2",
                  "headers": [
                    { "name": "Host", "value": "shop.example.com" },
                    { "name": "Content-Type", "value": "application/x-www-form-urlencoded" }
                  ],
                  "cookies": [ { "name": "sid", "value": "abc" } ], "queryString": [], "headersSize": 468,
                  "postData": {
                    "mimeType": "application/x-www-form-urlencoded",
                    "params": [ { "name": "user", "value": "ada b" }, { "name": "password", "value": "S3CRET" } ],
                    "text": "user=ada+b&password=S3CRET"
                  }
                },
                "response": {
                  "status": 302, "statusText": "Found", "httpVersion": "HTTP/2",
                  "headers": [ { "name": "location", "value": "/home" } ], "cookies": [],
                  "content": { "mimeType": "text/plain", "size": 0, "text": "" },
                  "redirectURL": "/home", "headersSize": 240, "bodySize": 240
                },
                "cache": {},
                "timings": { "blocked": 0, "dns": 12, "connect": 20, "ssl": 14, "send": 0, "wait": 31, "receive": 0 },
                "time": 77, "_securityState": "secure", "serverIPAddress": "192.0.2.7", "connection": "443",
                "pageref": "page_1"
              },
              {
                "startedDateTime": "2026-03-05T11:11:13.001+01:00",
                "request": {
                  "bodySize": 0, "method": "GET", "url": "https://shop.example.com/home", "httpVersion": "HTTP/2",
                  "headers": [], "cookies": [], "queryString": [], "headersSize": 300
                },
                "response": {
                  "status": 200, "statusText": "OK", "httpVersion": "HTTP/2",
                  "headers": [ { "name": "content-type", "value": "text/html" } ], "cookies": [],
                  "content": { "mimeType": "text/html", "size": 9, "text": "<p>hi</p>" },
                  "redirectURL": "", "headersSize": 120, "bodySize": 129
                },
                "cache": {}, "timings": { "blocked": 0, "dns": 0, "connect": 0, "ssl": 0, "send": 0, "wait": 9,
                "receive": 0 }, "time": 9, "_securityState": "secure", "serverIPAddress": "192.0.2.7",
                "connection": "443", "pageref": "page_1"
              }
            ]
          }
        }
        """#
}
