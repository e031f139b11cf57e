#if defined(__linux__)

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BODY_LIMIT = 64 * 1024,        // buffered before a receiver is called in the middle of a round
    KEPT_CAPACITY = 16 * 1024,     // of a buffer, from one exchange to the next
    HEAD_LIMIT = 256 * 1024,
    RECEIVE_BUFFER = 64 * 1024,
    SEND_BUFFER = 128 * 1024,
};

/// What was set for one exchange. The lines lie in one block, which libcurl reads and does not own.
struct baton_curl_request {
    char *lines;
    size_t lines_length, lines_capacity;
    struct curl_slist *nodes;
    size_t node_count, node_capacity;
    baton_curl_body_kind kind;
    bool has_method;
    bool has_bytes;
    bool accepts_any_certificate;
    // The lines of the head come to the body's callback too, before libcurl reads them: whether this libcurl needs it,
    // whether it is so now, and whether the beginning of this line was seen. A long line comes in pieces.
    bool must_show_lines, shows_lines, is_within_line;
    int version;
};

static bool reserve(char **buffer, size_t *capacity, size_t needed) {
    if (needed <= *capacity) return true;
    size_t grown = *capacity ? *capacity : 1024;
    while (grown < needed) grown *= 2;
    char *moved = realloc(*buffer, grown);
    if (moved == NULL) return false;
    *buffer = moved;
    *capacity = grown;
    return true;
}

static void trim(char **buffer, size_t *capacity) {
    if (*capacity <= KEPT_CAPACITY) return;
    free(*buffer);
    *buffer = NULL;
    *capacity = 0;
}

// MARK: Callbacks

// From 7.83 to before 8.1.0, libcurl keeps a pointer to the last field of the response before, which it has freed, and
// a response that begins with a folded line makes it follow that pointer (curl issue 11101). Those versions let the
// first line be seen before they read it, so that such a response ends there.
static void show_lines(baton_curl_handle *handle, bool shows) {
    if (!handle->request->must_show_lines || handle->request->shows_lines == shows) return;
    baton_curl.easy_setopt(handle->easy, OPT_HEADER, shows ? 1L : 0L);
    handle->request->shows_lines = shows;
}

static size_t check_line(baton_curl_handle *handle, const char *bytes, size_t length) {
    bool is_folded = !handle->request->is_within_line && length > 0 && (bytes[0] == ' ' || bytes[0] == '\t');
    handle->request->is_within_line = true;
    return is_folded ? 0 : length;
}

static size_t head_line(char *bytes, size_t size, size_t count, void *raw) {
    baton_curl_handle *handle = raw;
    size_t length = size * count;
    handle->request->is_within_line = false;
    if (handle->head_complete) return length;  // trailers
    bool is_status = length >= 5 && memcmp(bytes, "HTTP/", 5) == 0;
    if (is_status) handle->head_length = 0;
    if (length <= 2 && (length == 0 || bytes[0] == '\r' || bytes[0] == '\n')) {
        // The end of a head; one of 1xx is followed by another.
        const char *space = memchr(handle->head, ' ', handle->head_length);
        bool final = space == NULL || space + 1 >= handle->head + handle->head_length || space[1] != '1';
        if (handle->head_length == 0 || !final) return length;
        handle->head_complete = true;
        show_lines(handle, false);
        baton_curl_loop_mark_dirty(handle->loop, handle);
        return length;
    }
    if (!is_status) show_lines(handle, false);
    if (handle->head_length + length > HEAD_LIMIT) {
        handle->head_too_large = true;
        return 0;
    }
    if (!reserve(&handle->head, &handle->head_capacity, handle->head_length + length)) return 0;
    memcpy(handle->head + handle->head_length, bytes, length);
    handle->head_length += length;
    return length;
}

static baton_curl_callbacks callbacks_of(baton_curl_handle *handle);

static size_t body_bytes(char *bytes, size_t size, size_t count, void *raw) {
    baton_curl_handle *handle = raw;
    size_t length = size * count;
    if (handle->request->shows_lines) return check_line(handle, bytes, length);
    if (handle->held) return BATON_CURL_PAUSE;
    if (handle->body_length > 0 && handle->body_length + length > BODY_LIMIT
        && !callbacks_of(handle).deliver(handle)) {
        handle->held = true;
        return BATON_CURL_PAUSE;
    }
    if (!reserve(&handle->body, &handle->body_capacity, handle->body_length + length)) return 0;
    memcpy(handle->body + handle->body_length, bytes, length);
    handle->body_length += length;
    baton_curl_loop_mark_dirty(handle->loop, handle);
    return length;
}

static size_t body_read(char *buffer, size_t size, size_t count, void *raw) {
    baton_curl_handle *handle = raw;
    size_t result = callbacks_of(handle).read(handle, buffer, size * count);
    if (result < BATON_CURL_ABORT) baton_curl_loop_mark_dirty(handle->loop, handle);
    return result;
}

static int body_seek(void *raw, int64_t offset, int origin) {
    baton_curl_handle *handle = raw;
    return offset == 0 && origin == SEEK_SET && callbacks_of(handle).rewind(handle) ? 0 : 2;
}

static int before_sending(void *raw, char *a, char *b, int c, int d) {
    (void)a, (void)b, (void)c, (void)d;
    baton_curl_handle *handle = raw;
    if (handle->sendings > 0 && !handle->may_resend) {
        handle->resend_refused = true;
        return 1;
    }
    if (handle->sendings < UINT8_MAX) handle->sendings++;
    return 0;
}

struct curl_address {
    int family, type, protocol;
    unsigned int length;
    struct sockaddr address;
};

static int open_socket(void *loop, int purpose, struct curl_address *address) {
    (void)purpose;
    return baton_curl_loop_open_socket(loop, address->family, address->type, address->protocol);
}

static int close_socket(void *loop, int socket) { return baton_curl_loop_close_socket(loop, socket); }

// MARK: Making

struct made {
    baton_curl_handle handle;
    struct baton_curl_request request;
    baton_curl_callbacks callbacks;
};

static baton_curl_callbacks callbacks_of(baton_curl_handle *handle) { return ((struct made *)handle)->callbacks; }

static void set_constant_options(baton_curl_handle *handle) {
    int (*set)(void *, int, ...) = baton_curl.easy_setopt;
    void *easy = handle->easy;
    set(easy, OPT_PRIVATE, handle);
    set(easy, OPT_ERRORBUFFER, handle->error);
    set(easy, OPT_HEADERFUNCTION, head_line);
    set(easy, OPT_HEADERDATA, handle);
    set(easy, OPT_WRITEFUNCTION, body_bytes);
    set(easy, OPT_WRITEDATA, handle);
    set(easy, OPT_READFUNCTION, body_read);
    set(easy, OPT_READDATA, handle);
    set(easy, OPT_SEEKFUNCTION, body_seek);
    set(easy, OPT_SEEKDATA, handle);
    set(easy, OPT_PREREQFUNCTION, before_sending);  // since 7.80; older ones may send again
    set(easy, OPT_PREREQDATA, handle);
    set(easy, OPT_OPENSOCKETFUNCTION, open_socket);
    set(easy, OPT_OPENSOCKETDATA, handle->loop);
    set(easy, OPT_CLOSESOCKETFUNCTION, close_socket);
    set(easy, OPT_CLOSESOCKETDATA, handle->loop);
    set(easy, OPT_NOSIGNAL, 1L);
    set(easy, OPT_TCP_NODELAY, 1L);
    set(easy, OPT_FOLLOWLOCATION, 0L);
    set(easy, OPT_NETRC, 0L);
    set(easy, OPT_PATH_AS_IS, 1L);
    set(easy, OPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(easy, OPT_ACCEPT_ENCODING, "");
    set(easy, OPT_BUFFERSIZE, (long)RECEIVE_BUFFER);
    set(easy, OPT_UPLOAD_BUFFERSIZE, (long)SEND_BUFFER);
    if (set(easy, OPT_PROTOCOLS_STR, "http,https") != 0) set(easy, OPT_PROTOCOLS, 3L);
}

static const char *set_settings(void *easy, const baton_curl_settings *settings) {
    int (*set)(void *, int, ...) = baton_curl.easy_setopt;
    const struct {
        int option;
        const char *value, *name;
    } texts[] = {
        {OPT_PROXY, settings->proxy, "proxy"},
        {OPT_UNIX_SOCKET_PATH, settings->unix_socket_path, "unixSocketPath"},
        {OPT_CAINFO, settings->ca_file, "certificateAuthorityFile"},
        {OPT_SSLCERT, settings->client_certificate, "clientCertificateFile"},
        {OPT_SSLKEY, settings->client_key, "clientKeyFile"},
        {OPT_PINNEDPUBLICKEY, settings->pinned_keys, "pinnedPublicKeys"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].value != NULL && set(easy, texts[i].option, texts[i].value) != 0) return texts[i].name;
    }
    return NULL;
}

baton_curl_handle *baton_curl_handle_make(
    struct baton_curl_loop *loop, const baton_curl_settings *settings, const char **failed_option) {
    *failed_option = NULL;
    struct made *made = calloc(1, sizeof(*made));
    if (made == NULL) return NULL;
    made->handle.easy = baton_curl.easy_init();
    if (made->handle.easy == NULL) {
        free(made);
        return NULL;
    }
    made->handle.loop = loop;
    made->handle.request = &made->request;
    made->callbacks = settings->callbacks;
    made->request.version = -1;
    unsigned int version = baton_curl_version();
    made->request.must_show_lines = version >= 0x075300 && version < 0x080100;
    set_constant_options(&made->handle);
    *failed_option = set_settings(made->handle.easy, settings);
    return &made->handle;
}

void baton_curl_handle_free(baton_curl_handle *handle) {
    baton_curl.easy_cleanup(handle->easy);
    free(handle->head);
    free(handle->body);
    free(handle->request->lines);
    free(handle->request->nodes);
    free(handle);
}

// MARK: Requests

void baton_curl_request_begin(baton_curl_handle *handle) {
    trim(&handle->head, &handle->head_capacity);
    trim(&handle->body, &handle->body_capacity);
    trim(&handle->request->lines, &handle->request->lines_capacity);
    handle->head_length = handle->body_length = 0;
    handle->head_complete = handle->head_too_large = handle->held = handle->resend_refused = false;
    handle->sendings = 0;
    handle->error[0] = 0;
    handle->request->lines_length = handle->request->node_count = 0;
    handle->request->is_within_line = false;
    show_lines(handle, true);
}

static char *add_line(baton_curl_handle *handle, size_t length) {
    struct baton_curl_request *request = handle->request;
    if (!reserve(&request->lines, &request->lines_capacity, request->lines_length + length)) return NULL;
    if (request->node_count == request->node_capacity) {
        size_t capacity = request->node_capacity ? request->node_capacity * 2 : 16;
        struct curl_slist *grown = realloc(request->nodes, capacity * sizeof(*grown));
        if (grown == NULL) return NULL;
        request->nodes = grown;
        request->node_capacity = capacity;
    }
    // An offset for now: the block may still move.
    request->nodes[request->node_count++].data = (char *)request->lines_length;
    char *line = request->lines + request->lines_length;
    request->lines_length += length;
    return line;
}

bool baton_curl_request_field(
    baton_curl_handle *handle, const char *name, size_t name_length, const char *value, size_t value_length) {
    if (memchr(value, '\r', value_length) || memchr(value, '\n', value_length) || memchr(value, 0, value_length)) {
        return false;
    }
    size_t blanks = 0;
    while (blanks < value_length && (value[blanks] == ' ' || value[blanks] == '\t')) blanks++;
    bool blank = blanks == value_length;
    char *line = add_line(handle, name_length + (blank ? 2 : value_length + 3));
    if (line == NULL) return false;
    memcpy(line, name, name_length);
    line += name_length;
    if (blank) {
        // With a colon and nothing after it libcurl would leave the field out.
        memcpy(line, ";", 2);
        return true;
    }
    *line++ = ':';
    *line++ = ' ';
    memcpy(line, value, value_length);
    line[value_length] = 0;
    return true;
}

bool baton_curl_request_codings(baton_curl_handle *handle) {
    // libcurl would add the field by itself, but it prints what it adds twice, byte by byte.
    const char *value = baton_curl_codings();
    return baton_curl_request_field(handle, "Accept-Encoding", 15, value, strlen(value));
}

bool baton_curl_request_suppress(baton_curl_handle *handle, const char *name) {
    size_t length = strlen(name);
    char *line = add_line(handle, length + 2);
    if (line == NULL) return false;
    memcpy(line, name, length);
    memcpy(line + length, ":", 2);
    return true;
}

bool baton_curl_request_accept_any_certificate(baton_curl_handle *handle, bool accepts) {
    int (*set)(void *, int, ...) = baton_curl.easy_setopt;
    if (handle->request->accepts_any_certificate == accepts) return true;
    if (set(handle->easy, OPT_SSL_VERIFYPEER, accepts ? 0L : 1L) != 0
        || set(handle->easy, OPT_SSL_VERIFYHOST, accepts ? 0L : 2L) != 0) {
        return false;
    }
    handle->request->accepts_any_certificate = accepts;
    return true;
}

static void set_body(
    baton_curl_handle *handle, baton_curl_body_kind kind, const void *bytes, int64_t length) {
    int (*set)(void *, int, ...) = baton_curl.easy_setopt;
    struct baton_curl_request *request = handle->request;
    void *easy = handle->easy;
    if (request->has_bytes && kind != BATON_CURL_BYTES) {
        set(easy, OPT_COPYPOSTFIELDS, NULL);
        set(easy, OPT_POSTFIELDSIZE_LARGE, (int64_t)-1);
        request->has_bytes = false;
        request->kind = BATON_CURL_BYTES;
    }
    // HTTPGET takes back what each of the others has set.
    if (request->kind != kind && request->kind != BATON_CURL_NO_BODY) set(easy, OPT_HTTPGET, 1L);
    switch (kind) {
    case BATON_CURL_NO_BODY:
        break;
    case BATON_CURL_HEAD:
        set(easy, OPT_NOBODY, 1L);
        break;
    case BATON_CURL_BYTES:
        set(easy, OPT_POSTFIELDSIZE_LARGE, length);
        set(easy, OPT_COPYPOSTFIELDS, length > 0 ? bytes : "");
        request->has_bytes = true;
        break;
    case BATON_CURL_STREAM:
        set(easy, OPT_UPLOAD, 1L);
        set(easy, OPT_INFILESIZE_LARGE, length);
        break;
    }
    request->kind = kind;
}

int baton_curl_request_set(
    baton_curl_handle *handle, const char *url, bool secure, const char *method, baton_curl_body_kind kind,
    const void *bytes, int64_t length) {
    int (*set)(void *, int, ...) = baton_curl.easy_setopt;
    struct baton_curl_request *request = handle->request;
    void *easy = handle->easy;
    for (size_t i = 0; i < request->node_count; i++) {
        struct curl_slist *node = &request->nodes[i];
        node->data = request->lines + (size_t)node->data;
        node->next = i + 1 < request->node_count ? node + 1 : NULL;
    }
    set(easy, OPT_HTTPHEADER, request->node_count ? request->nodes : NULL);
    set_body(handle, kind, bytes, length);
    if (method != NULL || request->has_method) set(easy, OPT_CUSTOMREQUEST, method);
    request->has_method = method != NULL;
    int version = secure ? 4 : 2;  // HTTP/2 over TLS where both sides can, else 1.1
    if (version != request->version) {
        set(easy, OPT_HTTP_VERSION, (long)version);
        // With HTTP/2, wait for a connection that can be shared rather than open another one.
        set(easy, OPT_PIPEWAIT, secure ? 1L : 0L);
        request->version = version;
    }
    return set(easy, OPT_URL, url);
}

int baton_curl_handle_pause(baton_curl_handle *handle, bool receiving, bool sending) {
    return baton_curl.easy_pause(handle->easy, (receiving ? 1 : 0) | (sending ? 4 : 0));
}

// MARK: Measures

static int64_t number(void *easy, int info) {
    int64_t value = -1;
    return baton_curl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}

static long small_number(void *easy, int info) {
    long value = -1;
    return baton_curl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}

void baton_curl_handle_measure(baton_curl_handle *handle, baton_curl_measures *measures) {
    void *easy = handle->easy;
    measures->new_connections = small_number(easy, INFO_NUM_CONNECTS);
    if (measures->new_connections != 0) {
        measures->name_lookup = number(easy, INFO_NAMELOOKUP_TIME);
        measures->connect = number(easy, INFO_CONNECT_TIME);
        measures->secure_connect = number(easy, INFO_APPCONNECT_TIME);
    } else {
        measures->name_lookup = measures->connect = measures->secure_connect = -1;
    }
    measures->before_transfer = number(easy, INFO_PRETRANSFER_TIME);
    measures->after_sending = number(easy, INFO_POSTTRANSFER_TIME);
    measures->first_byte = number(easy, INFO_STARTTRANSFER_TIME);
    measures->total = number(easy, INFO_TOTAL_TIME);
    measures->sent = number(easy, INFO_SIZE_UPLOAD);
    measures->received = number(easy, INFO_SIZE_DOWNLOAD);
    measures->port = small_number(easy, INFO_PRIMARY_PORT);
    measures->version = small_number(easy, INFO_HTTP_VERSION);
    char *address = NULL;
    measures->address = baton_curl.easy_getinfo(easy, INFO_PRIMARY_IP, &address) == 0 ? address : NULL;
}

#endif
