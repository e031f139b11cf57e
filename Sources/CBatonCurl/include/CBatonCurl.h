#ifndef CBATONCURL_H
#define CBATONCURL_H

// libcurl, opened at run time, as far as Baton uses it. Nothing here needs a header or a package of libcurl's.
// Off Linux the target is empty.

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Library

enum {
    BATON_CURL_OPENED = 0,
    BATON_CURL_NO_LIBRARY = 1,
    BATON_CURL_NO_SYMBOL = 2,
    BATON_CURL_INIT_FAILED = 3,
};

/// Opens the library of that name, looks all functions up and sets libcurl up, the latter two once for the
/// process. `detail` is filled with what is missing, NUL-terminated.
int baton_curl_open(const char *name, char *detail, size_t size);
/// The version of the open library, as 0xXXYYZZ.
uint32_t baton_curl_version(void);
/// What a result code means, in libcurl's words.
const char *baton_curl_describe(int code);

// MARK: Threads

/// Starts a detached thread with a name, on which SIGPIPE is blocked. Returns 0 or an errno.
int baton_curl_start_thread(const char *name, void (*body)(void *), void *context);
/// Makes an eventfd; -1 when there are no descriptors left.
int baton_curl_waker_open(void);
void baton_curl_waker_signal(int descriptor);
void baton_curl_waker_close(int descriptor);

// MARK: Exchanges

/// How a request carries its body.
typedef enum {
    BATON_CURL_NO_BODY = 0,
    BATON_CURL_HEAD = 1,
    BATON_CURL_BYTES = 2,
    BATON_CURL_STREAM = 3,
} baton_curl_body_kind;

/// What reading yields in place of a number of bytes; writing takes the same number for a pause.
enum {
    BATON_CURL_ABORT = 0x10000000,
    BATON_CURL_PAUSE = 0x10000001,
};

struct baton_curl_loop;
struct baton_curl_request;

/// An easy handle with all that one exchange collects. It is used for one exchange after the other.
typedef struct baton_curl_handle {
    void *easy;
    /// Handed to the callbacks.
    void *context;
    struct baton_curl_loop *loop;

    /// The lines of the response's head, status line first, each ended by CR LF or LF.
    char *head;
    size_t head_length, head_capacity;
    /// What was received of the body and not taken yet.
    char *body;
    size_t body_length, body_capacity;

    /// Added to the loop and neither done nor removed.
    bool active;
    /// The final head is there.
    bool head_complete;
    bool head_too_large;
    /// Nothing is to be received before `baton_curl_handle_pause` says so.
    bool held;
    /// The exchange was refused a second sending, which its method does not allow.
    bool resend_refused;
    /// Whether libcurl may send the request again when a reused connection turns out to be dead.
    bool may_resend;

    bool dirty;
    uint8_t sendings;
    struct baton_curl_handle *next_dirty;
    struct baton_curl_request *request;
    char error[256];
} baton_curl_handle;

typedef struct {
    /// Buffered bytes have to go; false to hold the exchange.
    bool (*deliver)(baton_curl_handle *);
    /// Bytes of the request's body: their number, 0 at the end, or BATON_CURL_PAUSE or _ABORT.
    size_t (*read)(baton_curl_handle *, char *buffer, size_t size);
    /// Starts the request's body again; false when it cannot.
    bool (*rewind)(baton_curl_handle *);
} baton_curl_callbacks;

/// What all handles of a loop have in common; NULL and 0 are libcurl's defaults.
typedef struct {
    const char *proxy;
    const char *unix_socket_path;
    const char *ca_file;
    const char *client_certificate;
    const char *client_key;
    const char *pinned_keys;
    long max_connections;
    baton_curl_callbacks callbacks;
} baton_curl_settings;

/// A handle with all options that never change; NULL without memory. `failed_option` names an option of the
/// settings that the library refuses (a TLS library without key pinning, say), else it is NULL.
baton_curl_handle *baton_curl_handle_make(
    struct baton_curl_loop *loop, const baton_curl_settings *settings, const char **failed_option);
void baton_curl_handle_free(baton_curl_handle *handle);

/// Forgets the last exchange: its lines, its head and its body.
void baton_curl_request_begin(baton_curl_handle *handle);
/// Adds a field, whose name is a token. False when the value holds what no field may hold, or without memory.
bool baton_curl_request_field(
    baton_curl_handle *handle, const char *name, size_t name_length, const char *value, size_t value_length);
/// Adds `Accept-Encoding` with all codings that libcurl decodes.
bool baton_curl_request_codings(baton_curl_handle *handle);
/// Keeps libcurl from adding a field of its own.
bool baton_curl_request_suppress(baton_curl_handle *handle, const char *name);
/// Whether the server of the next exchange may show any certificate; a new handle accepts none but valid ones. False
/// when libcurl refuses: then the handle must not be used.
bool baton_curl_request_accept_any_certificate(baton_curl_handle *handle, bool accepts);
/// Sets URL, method and body. `method` is NULL where the kind says it (GET, HEAD, POST). Returns a CURLcode.
int baton_curl_request_set(
    baton_curl_handle *handle, const char *url, bool secure, const char *method, baton_curl_body_kind kind,
    const void *bytes, int64_t length);
/// Holds or releases both directions. Callbacks may run inside.
int baton_curl_handle_pause(baton_curl_handle *handle, bool receiving, bool sending);

typedef struct {
    int64_t name_lookup, connect, secure_connect, before_transfer, after_sending, first_byte, total;
    int64_t sent, received;
    long new_connections, port, version;
    const char *address;
} baton_curl_measures;

/// Times in microseconds since the start; -1 for what the library does not tell.
void baton_curl_handle_measure(baton_curl_handle *handle, baton_curl_measures *measures);

// MARK: The loop

/// A multi handle over epoll. All of it belongs to one thread.
typedef struct baton_curl_loop baton_curl_loop;

baton_curl_loop *baton_curl_loop_make(int waker, long max_connections);
/// Closes all connections. Every handle must have been freed.
void baton_curl_loop_free(baton_curl_loop *loop);
int baton_curl_loop_add(baton_curl_loop *loop, baton_curl_handle *handle);
void baton_curl_loop_remove(baton_curl_loop *loop, baton_curl_handle *handle);
/// Nothing is left of the handle in the loop, so it may be freed.
void baton_curl_loop_forget(baton_curl_loop *loop, baton_curl_handle *handle);
/// Does what is due, without waiting.
void baton_curl_loop_run_due(baton_curl_loop *loop);
/// Waits for sockets, timers or the waker, unless `poll` is set, then does what is due.
void baton_curl_loop_wait(baton_curl_loop *loop, bool poll);
/// The next handle that is done, taken off the loop; NULL when there is none.
baton_curl_handle *baton_curl_loop_next_done(baton_curl_loop *loop, int *result);
/// The next active handle with news (head, body, bytes sent) since it was last asked for.
baton_curl_handle *baton_curl_loop_next_dirty(baton_curl_loop *loop);

#endif
#endif
