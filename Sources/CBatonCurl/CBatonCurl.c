#if defined(__linux__)

#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct baton_curl_api baton_curl;

static char codings[64] = "identity";

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static bool opened = false;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"curl_global_init", offsetof(struct baton_curl_api, global_init)},
    {"curl_version_info", offsetof(struct baton_curl_api, version_info)},
    {"curl_easy_strerror", offsetof(struct baton_curl_api, easy_strerror)},
    {"curl_easy_init", offsetof(struct baton_curl_api, easy_init)},
    {"curl_easy_cleanup", offsetof(struct baton_curl_api, easy_cleanup)},
    {"curl_easy_setopt", offsetof(struct baton_curl_api, easy_setopt)},
    {"curl_easy_getinfo", offsetof(struct baton_curl_api, easy_getinfo)},
    {"curl_easy_pause", offsetof(struct baton_curl_api, easy_pause)},
    {"curl_multi_init", offsetof(struct baton_curl_api, multi_init)},
    {"curl_multi_cleanup", offsetof(struct baton_curl_api, multi_cleanup)},
    {"curl_multi_setopt", offsetof(struct baton_curl_api, multi_setopt)},
    {"curl_multi_add_handle", offsetof(struct baton_curl_api, multi_add_handle)},
    {"curl_multi_remove_handle", offsetof(struct baton_curl_api, multi_remove_handle)},
    {"curl_multi_socket_action", offsetof(struct baton_curl_api, multi_socket_action)},
    {"curl_multi_info_read", offsetof(struct baton_curl_api, multi_info_read)},
};

static void note_codings(int features) {
    bool has_zlib = features & 1 << 3, has_brotli = features & 1 << 23, has_zstd = features & 1 << 26;
    if (!has_zlib && !has_brotli && !has_zstd) return;
    snprintf(
        codings, sizeof(codings), "%s%s%s%s%s", has_zlib ? "deflate, gzip" : "", has_zlib && has_brotli ? ", " : "",
        has_brotli ? "br" : "", (has_zlib || has_brotli) && has_zstd ? ", " : "", has_zstd ? "zstd" : "");
}

static int open_locked(const char *name, char *detail, size_t size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(detail, size, "%s", reason ? reason : name);
        return BATON_CURL_NO_LIBRARY;
    }
    struct baton_curl_api api;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL) {
            snprintf(detail, size, "%s", symbols[i].name);
            dlclose(library);
            return BATON_CURL_NO_SYMBOL;
        }
        memcpy((char *)&api + symbols[i].offset, &symbol, sizeof(symbol));
    }
    // The library stays open for the life of the process: it may have started threads.
    if (opened) return BATON_CURL_OPENED;
    int result = api.global_init(3);
    if (result != 0) {
        snprintf(detail, size, "%s", api.easy_strerror(result));
        return BATON_CURL_INIT_FAILED;
    }
    baton_curl = api;
    note_codings(api.version_info(0)->features);
    opened = true;
    return BATON_CURL_OPENED;
}

int baton_curl_open(const char *name, char *detail, size_t size) {
    detail[0] = 0;
    pthread_mutex_lock(&opening);
    int result = open_locked(name, detail, size);
    pthread_mutex_unlock(&opening);
    return result;
}

uint32_t baton_curl_version(void) { return baton_curl.version_info(0)->number; }

const char *baton_curl_codings(void) { return codings; }

const char *baton_curl_describe(int code) { return baton_curl.easy_strerror(code); }

// MARK: Threads

struct start {
    void (*body)(void *);
    void *context;
    char name[16];
};

static void *thread_main(void *raw) {
    struct start start = *(struct start *)raw;
    free(raw);
    pthread_setname_np(pthread_self(), start.name);
    // Older versions of libcurl write to TLS sockets without MSG_NOSIGNAL.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    start.body(start.context);
    return NULL;
}

int baton_curl_start_thread(const char *name, void (*body)(void *), void *context) {
    struct start *start = calloc(1, sizeof(*start));
    if (start == NULL) return ENOMEM;
    start->body = body;
    start->context = context;
    strncpy(start->name, name, sizeof(start->name) - 1);
    pthread_t thread;
    int result = pthread_create(&thread, NULL, thread_main, start);
    if (result != 0) {
        free(start);
        return result;
    }
    pthread_detach(thread);
    return 0;
}

int baton_curl_waker_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void baton_curl_waker_signal(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof(one)) < 0 && errno == EINTR) {}
}

void baton_curl_waker_close(int descriptor) { close(descriptor); }

#endif
