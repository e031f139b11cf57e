#ifndef BENCHMARK_PEERS_H
#define BENCHMARK_PEERS_H

/// Sends `count` GET requests to `url`, at most `concurrency` at a time, in a bare loop over libcurl's multi interface.
/// Each is built with these field lines, the last one NULL, and with libcurl's codings. Returns how many were answered
/// with 200; -1 where libcurl cannot be opened.
int curl_loop_run(const char *url, const char *const *fields, int count, int concurrency);

/// Bytes that the process has allocated and not freed; 0 where the system does not tell.
long long allocated_bytes(void);

#endif
