#if os(Linux)
    internal import CBatonCurl

    /// The other end of a connection, as text that is made once for one after the other.
    struct CurlPeer {
        private var host = ""
        private var port = 0
        private var text = ""

        /// Address and port; a socket in the file system has no port.
        mutating func text(_ host: String, _ port: Int) -> String {
            if port == self.port, host == self.host { return text }
            (self.host, self.port) = (host, port)
            if port <= 0 || host.hasPrefix("/") {
                text = host
            } else {
                text = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
            return text
        }
    }

    extension UnsafeMutablePointer where Pointee == baton_curl_handle {
        /// What libcurl measured of the exchange that has just ended.
        ///
        /// - Parameter peer: who answered the exchange before, which is mostly who answered this one.
        func metrics(isUpload: Bool, isFailure: Bool = false, peer: inout CurlPeer) -> TransportMetrics {
            var measures = baton_curl_measures()
            baton_curl_handle_measure(self, &measures)
            if isFailure { forgetWhatWasNot(&measures) }
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
                metrics.remoteAddress = peer.text(String(cString: address), measures.port)
            }
            return metrics
        }

        /// Of an exchange that failed, zero is what libcurl says of all that did not come about.
        private func forgetWhatWasNot(_ measures: inout baton_curl_measures) {
            let times: [WritableKeyPath<baton_curl_measures, Int64>] = [
                \.name_lookup, \.connect, \.secure_connect, \.before_transfer, \.after_sending, \.first_byte,
            ]
            for time in times where measures[keyPath: time] == 0 { measures[keyPath: time] = -1 }
            // The end of a connection counts as a first byte, too.
            if pointee.head_length == 0 { measures.first_byte = -1 }
            guard measures.before_transfer < 0 else { return }
            // It had no connection over which anything could travel.
            (measures.sent, measures.received) = (-1, -1)
            if measures.new_connections == 0 { measures.new_connections = -1 }
        }

        private static func time(from start: Int64, to end: Int64) -> Duration? {
            start < 0 || end < 0 ? nil : .microseconds(Swift.max(0, end - start))
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
