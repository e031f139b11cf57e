#ifndef BATON_CURL_INTERNAL_H
#define BATON_CURL_INTERNAL_H

#if defined(__linux__)

#include "CBatonCurl.h"

// What libcurl's binary interface promises: the layout of two structs, the numbers of options and results.

struct curl_slist {
    char *data;
    struct curl_slist *next;
};

struct curl_message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

struct curl_version {
    int age;
    const char *text;
    unsigned int number;
    const char *host;
    int features;
};

enum {
    OPT_WRITEDATA = 10001, OPT_URL = 10002, OPT_PROXY = 10004, OPT_READDATA = 10009,
    OPT_ERRORBUFFER = 10010, OPT_WRITEFUNCTION = 20011, OPT_READFUNCTION = 20012, OPT_HTTPHEADER = 10023,
    OPT_SSLCERT = 10025, OPT_HEADERDATA = 10029, OPT_CUSTOMREQUEST = 10036, OPT_HEADER = 42, OPT_NOBODY = 44, OPT_UPLOAD = 46,
    OPT_NETRC = 51, OPT_FOLLOWLOCATION = 52, OPT_SSL_VERIFYPEER = 64, OPT_CAINFO = 10065,
    OPT_HEADERFUNCTION = 20079, OPT_HTTPGET = 80, OPT_SSL_VERIFYHOST = 81, OPT_HTTP_VERSION = 84,
    OPT_SSLKEY = 10087, OPT_BUFFERSIZE = 98, OPT_NOSIGNAL = 99, OPT_ACCEPT_ENCODING = 10102,
    OPT_PRIVATE = 10103, OPT_INFILESIZE_LARGE = 30115, OPT_POSTFIELDSIZE_LARGE = 30120, OPT_TCP_NODELAY = 121,
    OPT_OPENSOCKETFUNCTION = 20163, OPT_OPENSOCKETDATA = 10164, OPT_COPYPOSTFIELDS = 10165,
    OPT_SEEKFUNCTION = 20167, OPT_SEEKDATA = 10168, OPT_PROTOCOLS = 181, OPT_CLOSESOCKETFUNCTION = 20208,
    OPT_CLOSESOCKETDATA = 10209, OPT_PINNEDPUBLICKEY = 10230, OPT_UNIX_SOCKET_PATH = 10231,
    OPT_PATH_AS_IS = 234, OPT_PIPEWAIT = 237, OPT_SUPPRESS_CONNECT_HEADERS = 265,
    OPT_UPLOAD_BUFFERSIZE = 280, OPT_PREREQFUNCTION = 20312, OPT_PREREQDATA = 10313, OPT_PROTOCOLS_STR = 10318,
};

enum {
    INFO_PRIVATE = 0x100000 + 21, INFO_PRIMARY_IP = 0x100000 + 32, INFO_NUM_CONNECTS = 0x200000 + 26,
    INFO_PRIMARY_PORT = 0x200000 + 40, INFO_HTTP_VERSION = 0x200000 + 46, INFO_SIZE_UPLOAD = 0x600000 + 7,
    INFO_SIZE_DOWNLOAD = 0x600000 + 8, INFO_TOTAL_TIME = 0x600000 + 50, INFO_NAMELOOKUP_TIME = 0x600000 + 51,
    INFO_CONNECT_TIME = 0x600000 + 52, INFO_PRETRANSFER_TIME = 0x600000 + 53,
    INFO_STARTTRANSFER_TIME = 0x600000 + 54, INFO_APPCONNECT_TIME = 0x600000 + 56,
    INFO_POSTTRANSFER_TIME = 0x600000 + 67,
};

enum {
    MOPT_SOCKETFUNCTION = 20001, MOPT_SOCKETDATA = 10002, MOPT_TIMERFUNCTION = 20004, MOPT_TIMERDATA = 10005,
    MOPT_MAXCONNECTS = 6, MOPT_MAX_CONCURRENT_STREAMS = 16,
};

/// The functions of the open library. `curl_easy_setopt` and its kind are variadic in C, so they are called
/// through variadic pointers; on some platforms the calling convention differs.
struct baton_curl_api {
    int (*global_init)(long flags);
    struct curl_version *(*version_info)(int age);
    const char *(*easy_strerror)(int code);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *easy);
    int (*easy_setopt)(void *easy, int option, ...);
    int (*easy_getinfo)(void *easy, int info, ...);
    int (*easy_pause)(void *easy, int mask);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *multi);
    int (*multi_setopt)(void *multi, int option, ...);
    int (*multi_add_handle)(void *multi, void *easy);
    int (*multi_remove_handle)(void *multi, void *easy);
    int (*multi_socket_action)(void *multi, int socket, int events, int *running);
    struct curl_message *(*multi_info_read)(void *multi, int *left);
};

extern struct baton_curl_api baton_curl;

/// The content codings that the open library decodes, as `Accept-Encoding` names them.
const char *baton_curl_codings(void);

void baton_curl_loop_mark_dirty(struct baton_curl_loop *loop, baton_curl_handle *handle);
int baton_curl_loop_open_socket(struct baton_curl_loop *loop, int family, int type, int protocol);
int baton_curl_loop_close_socket(struct baton_curl_loop *loop, int socket);

#endif
#endif
