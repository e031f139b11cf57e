#if canImport(Darwin)
    internal import Foundation

    extension URLSessionLink {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            if let last = metrics.transactionMetrics.last { note(TransportMetrics(last), of: task) }
        }
    }

    extension TransportMetrics {
        init(_ transaction: URLSessionTaskTransactionMetrics) {
            self.init()
            func span(_ start: Date?, _ end: Date?) -> Duration? {
                guard let start, let end, end >= start else { return nil }
                return .seconds(end.timeIntervalSince(start))
            }
            nameLookup = span(transaction.domainLookupStartDate, transaction.domainLookupEndDate)
            secureConnect = span(transaction.secureConnectionStartDate, transaction.secureConnectionEndDate)
            connect = span(
                transaction.connectStartDate, transaction.secureConnectionStartDate ?? transaction.connectEndDate)
            send = span(transaction.requestStartDate, transaction.requestEndDate)
            wait = span(transaction.requestEndDate, transaction.responseStartDate)
            receive = span(transaction.responseStartDate, transaction.responseEndDate)
            bodyBytesSent = transaction.countOfRequestBodyBytesSent
            bodyBytesReceived = transaction.countOfResponseBodyBytesReceived
            protocolName = transaction.networkProtocolName
            connectionReused = transaction.isReusedConnection
            if let address = transaction.remoteAddress, let port = transaction.remotePort {
                remoteAddress = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
            }
        }
    }
#endif
