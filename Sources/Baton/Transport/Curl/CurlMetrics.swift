#if os(Linux)
    internal import CBatonCurl

    extension UnsafeMutablePointer where Pointee == baton_curl_handle {
        /// What libcurl measured of the exchange that has just ended.
        func metrics(isUpload: Bool) -> TransportMetrics {
            var measures = baton_curl_measures()
            baton_curl_handle_measure(self, &measures)
            var metrics = TransportMetrics()
            metrics.connectionReused = measures.new_connections < 0 ? nil : measures.new_connections == 0
            metrics.nameLookup = Self.time(from: 0, to: measures.name_lookup)
            metrics.connect = Self.time(from: measures.name_lookup, to: measures.connect)
            // Zero where there was no handshake.
            if measures.secure_connect > 0 {
                metrics.secureConnect = Self.time(from: measures.connect, to: measures.secure_connect)
            }
            metrics.send = Self.time(from: measures.before_transfer, to: measures.after_sending)
            // Older versions do not tell when sending ended. Without a body to read that is as good as at once.
            if measures.after_sending >= 0 {
                metrics.wait = Self.time(from: measures.after_sending, to: measures.first_byte)
            } else if !isUpload {
                metrics.wait = Self.time(from: measures.before_transfer, to: measures.first_byte)
            }
            metrics.receive = Self.time(from: measures.first_byte, to: measures.total)
            metrics.bodyBytesSent = measures.sent < 0 ? nil : measures.sent
            metrics.bodyBytesReceived = measures.received < 0 ? nil : measures.received
            metrics.protocolName = Self.protocolName(measures.version)
            if let address = measures.address, address.pointee != 0 {
                metrics.remoteAddress = Self.peer(String(cString: address), measures.port)
            }
            return metrics
        }

        private static func time(from start: Int64, to end: Int64) -> Duration? {
            start < 0 || end < 0 ? nil : .microseconds(Swift.max(0, end - start))
        }

        /// Address and port; a socket in the file system has no port.
        private static func peer(_ host: String, _ port: Int) -> String {
            if port <= 0 || host.hasPrefix("/") { return host }
            return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        private static func protocolName(_ version: Int) -> String? {
            switch version {
            case 1: "http/1.0"
            case 2: "http/1.1"
            case 3: "h2"
            case 30: "h3"
            default: nil
            }
        }
    }
#endif
