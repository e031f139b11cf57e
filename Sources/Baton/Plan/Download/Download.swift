public import Foundation

extension Request {
    /// The request as a plan that writes the response's body to a file in place of memory.
    ///
    /// ```swift
    /// let file = try await client.run(GetMovie(id: 7).download(to: url))
    /// ```
    /// The body is written beside `url`, under a hidden name that ends in `.partial`, and moved to `url` in one step when
    /// a response with an accepted status is complete and on the disk. Folders that are missing are made. The response
    /// of another status is kept in memory, up to 1 MB, for the error.
    ///
    /// What a failed or cancelled download of a GET request has written is kept, with a note beside it, where the
    /// server says how to ask for the rest (a strong `ETag`, or a `Last-Modified` that is older than the response).
    /// The next download of the same URL to the same place goes on there, in whatever process, and so does the next
    /// attempt of the same one. Where the resource has changed it starts over. Such a request asks for no content
    /// coding unless it sets `Accept-Encoding` itself.
    ///
    /// The timeout is one of silence: an attempt fails when nothing moved for so long.
    ///
    /// - Parameters:
    ///   - url: a file URL.
    ///   - existing: what is done where there is a file already. Default: it fails.
    /// - Returns: a plan that fails with `fileFailed` when the file cannot be written or put in its place.
    public func download(to url: URL, existing: ExistingFile = .fail) -> Chain<DownloadedFile> {
        Chain(node: .plan(Download(request: self, destination: url, existing: existing)))
    }
}

/// A download before it is run; each run has a sink of its own.
private struct Download<R: Request>: Plan {
    typealias Output = DownloadedFile

    let request: R
    let destination: URL
    let existing: ExistingFile

    var chain: Chain<DownloadedFile> { Chain(node: .plan(self)) }

    func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode {
        let call = try CallDescription(request, in: context)
        let sink = FileSink(call.request, to: destination, existing)
        return Chain<HTTPResponse>(node: .plan(Loading(call: call.into(sink), sink: sink)))
            .map { response in try sink.finish(response) }.node
    }
}

/// Looks for what is there, right before the request is sent.
private struct Loading: Plan {
    typealias Output = HTTPResponse

    let call: CallDescription
    let sink: FileSink

    var chain: Chain<HTTPResponse> { Chain(node: .plan(self)) }

    func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode {
        try sink.load()
        return .call(call)
    }
}
