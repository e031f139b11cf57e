#include "BenchmarkPeers.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

typedef struct {
    int message;
    void *easy;
    union {
        void *pointer;
        int result;
    } data;
} message;

enum { DONE = 1, URL = 10002, WRITE_FUNCTION = 20011, NO_SIGNAL = 99, RESPONSE_CODE = 0x200002 };

static size_t swallow(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

int curl_loop_run(const char *url, int count, int concurrency) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    void *(*easy_init)(void) = (void *(*)(void))dlsym(library, "curl_easy_init");
    int (*easy_setopt)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(library, "curl_easy_setopt");
    int (*easy_getinfo)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(library, "curl_easy_getinfo");
    void (*easy_cleanup)(void *) = (void (*)(void *))dlsym(library, "curl_easy_cleanup");
    void *(*multi_init)(void) = (void *(*)(void))dlsym(library, "curl_multi_init");
    int (*add)(void *, void *) = (int (*)(void *, void *))dlsym(library, "curl_multi_add_handle");
    int (*take)(void *, void *) = (int (*)(void *, void *))dlsym(library, "curl_multi_remove_handle");
    int (*perform)(void *, int *) = (int (*)(void *, int *))dlsym(library, "curl_multi_perform");
    int (*wait)(void *, void *, unsigned, int, int *) =
        (int (*)(void *, void *, unsigned, int, int *))dlsym(library, "curl_multi_poll");
    message *(*read)(void *, int *) = (message * (*)(void *, int *)) dlsym(library, "curl_multi_info_read");
    void (*multi_cleanup)(void *) = (void (*)(void *))dlsym(library, "curl_multi_cleanup");
    if (!easy_init || !easy_setopt || !easy_getinfo || !easy_cleanup || !multi_init || !add || !take || !perform ||
        !wait || !read || !multi_cleanup)
        return -1;

    void *multi = multi_init();
    if (concurrency > count) concurrency = count;
    void **handles = calloc((size_t)concurrency, sizeof(void *));
    int sent = 0, done = 0, right = 0, running = 0, left = 0;
    for (int i = 0; i < concurrency; i++, sent++) {
        handles[i] = easy_init();
        easy_setopt(handles[i], URL, url);
        easy_setopt(handles[i], WRITE_FUNCTION, swallow);
        easy_setopt(handles[i], NO_SIGNAL, 1L);
        add(multi, handles[i]);
    }
    while (done < count) {
        if (perform(multi, &running) != 0) break;
        message *next;
        int landed = 0;
        while ((next = read(multi, &left))) {
            if (next->message != DONE) continue;
            void *easy = next->easy;
            long status = 0;
            easy_getinfo(easy, RESPONSE_CODE, &status);
            if (next->data.result == 0 && status == 200) right++;
            done++;
            landed++;
            take(multi, easy);
            if (sent < count) {
                add(multi, easy);
                sent++;
            }
        }
        if (!landed && done < count && wait(multi, NULL, 0, 1000, NULL) != 0) break;
    }
    for (int i = 0; i < concurrency; i++) easy_cleanup(handles[i]);
    free(handles);
    multi_cleanup(multi);
    return right;
}

long long allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (long long)(info.uordblks + info.hblkhd);
}

#else

int curl_loop_run(const char *url, int count, int concurrency) {
    (void)url;
    (void)count;
    (void)concurrency;
    return -1;
}

long long allocated_bytes(void) { return 0; }

#endif
