#if defined(__linux__)

#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { POLL_IN = 1, POLL_OUT = 2, POLL_REMOVE = 4, SELECT_IN = 1, SELECT_OUT = 2, SELECT_ERR = 4 };
enum { EVENTS_AT_ONCE = 256 };

/// What is known of one descriptor.
struct interest {
    uint8_t wanted;      // by libcurl
    uint8_t registered;  // with epoll
    bool ours;           // opened through open_socket, so its closing is seen too
};

struct baton_curl_loop {
    void *multi;
    int epoll;
    int waker;
    int64_t deadline;  // of libcurl's timer, in nanoseconds; -1 without one
    struct interest *interests;
    size_t interest_count;
    baton_curl_handle *dirty;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct interest *interest_of(baton_curl_loop *loop, int socket) {
    if (socket < 0) return NULL;
    if ((size_t)socket >= loop->interest_count) {
        size_t count = loop->interest_count ? loop->interest_count : 64;
        while (count <= (size_t)socket) count *= 2;
        struct interest *grown = realloc(loop->interests, count * sizeof(*grown));
        if (grown == NULL) return NULL;
        memset(grown + loop->interest_count, 0, (count - loop->interest_count) * sizeof(*grown));
        loop->interests = grown;
        loop->interest_count = count;
    }
    return &loop->interests[socket];
}

static void register_interest(baton_curl_loop *loop, int socket, struct interest *interest) {
    if (interest->wanted == interest->registered) return;
    struct epoll_event event = {.data.fd = socket};
    if (interest->wanted & POLL_IN) event.events |= EPOLLIN;
    if (interest->wanted & POLL_OUT) event.events |= EPOLLOUT;
    int operation = interest->wanted == 0 ? EPOLL_CTL_DEL : interest->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(loop->epoll, operation, socket, &event) != 0) {
        if (operation == EPOLL_CTL_MOD && errno == ENOENT) epoll_ctl(loop->epoll, EPOLL_CTL_ADD, socket, &event);
        if (operation == EPOLL_CTL_ADD && errno == EEXIST) epoll_ctl(loop->epoll, EPOLL_CTL_MOD, socket, &event);
    }
    interest->registered = interest->wanted;
}

static int socket_changed(void *easy, int socket, int what, void *raw, void *assigned) {
    (void)easy, (void)assigned;
    baton_curl_loop *loop = raw;
    struct interest *interest = interest_of(loop, socket);
    if (interest == NULL) return -1;
    interest->wanted = what == POLL_REMOVE ? 0 : (uint8_t)what;
    // A connection that goes idle is usually wanted again at once, with the same interest: leave it with epoll
    // until it really stirs. That saves two system calls for each request.
    if (interest->wanted == 0 && interest->ours) return 0;
    register_interest(loop, socket, interest);
    return 0;
}

static int timer_changed(void *multi, long milliseconds, void *raw) {
    (void)multi;
    baton_curl_loop *loop = raw;
    if (milliseconds < 0) {
        loop->deadline = -1;
    } else {
        loop->deadline = milliseconds == 0 ? 0 : now() + (int64_t)milliseconds * 1000000;
    }
    return 0;
}

int baton_curl_loop_open_socket(baton_curl_loop *loop, int family, int type, int protocol) {
    int opened = socket(family, type | SOCK_CLOEXEC, protocol);
    struct interest *interest = interest_of(loop, opened);
    if (interest != NULL) *interest = (struct interest){.ours = true};
    return opened;
}

int baton_curl_loop_close_socket(baton_curl_loop *loop, int socket) {
    struct interest *interest = interest_of(loop, socket);
    if (interest != NULL) {
        // Explicitly, because a copy of the descriptor in a child process would keep it registered.
        if (interest->registered) epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, &(struct epoll_event){0});
        *interest = (struct interest){0};
    }
    return close(socket);
}

baton_curl_loop *baton_curl_loop_make(int waker, long max_connections) {
    baton_curl_loop *loop = calloc(1, sizeof(*loop));
    if (loop == NULL) return NULL;
    loop->deadline = -1;
    loop->waker = waker;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = waker};
    if (loop->epoll < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, waker, &event) != 0
        || (loop->multi = baton_curl.multi_init()) == NULL) {
        if (loop->epoll >= 0) close(loop->epoll);
        free(loop);
        return NULL;
    }
    baton_curl.multi_setopt(loop->multi, MOPT_SOCKETFUNCTION, socket_changed);
    baton_curl.multi_setopt(loop->multi, MOPT_SOCKETDATA, loop);
    baton_curl.multi_setopt(loop->multi, MOPT_TIMERFUNCTION, timer_changed);
    baton_curl.multi_setopt(loop->multi, MOPT_TIMERDATA, loop);
    // 100 by itself, beyond which each request of a burst opens a connection of its own.
    baton_curl.multi_setopt(loop->multi, MOPT_MAX_CONCURRENT_STREAMS, 1000L);
    if (max_connections > 0) baton_curl.multi_setopt(loop->multi, MOPT_MAXCONNECTS, max_connections);
    return loop;
}

void baton_curl_loop_free(baton_curl_loop *loop) {
    baton_curl.multi_cleanup(loop->multi);
    close(loop->epoll);
    free(loop->interests);
    free(loop);
}

int baton_curl_loop_add(baton_curl_loop *loop, baton_curl_handle *handle) {
    int result = baton_curl.multi_add_handle(loop->multi, handle->easy);
    handle->active = result == 0;
    return result;
}

void baton_curl_loop_remove(baton_curl_loop *loop, baton_curl_handle *handle) {
    handle->active = false;
    baton_curl.multi_remove_handle(loop->multi, handle->easy);
}

void baton_curl_loop_forget(baton_curl_loop *loop, baton_curl_handle *handle) {
    if (!handle->dirty) return;
    for (baton_curl_handle **link = &loop->dirty; *link != NULL; link = &(*link)->next_dirty) {
        if (*link != handle) continue;
        *link = handle->next_dirty;
        handle->dirty = false;
        return;
    }
}

void baton_curl_loop_run_due(baton_curl_loop *loop) {
    if (loop->deadline < 0 || (loop->deadline > 0 && loop->deadline > now())) return;
    loop->deadline = -1;
    int running;
    baton_curl.multi_socket_action(loop->multi, -1, 0, &running);
}

static int wait_milliseconds(baton_curl_loop *loop) {
    if (loop->deadline < 0) return -1;
    int64_t left = loop->deadline == 0 ? 0 : loop->deadline - now();
    if (left <= 0) return 0;
    int64_t milliseconds = (left + 999999) / 1000000;
    return milliseconds > 3600000 ? 3600000 : (int)milliseconds;
}

void baton_curl_loop_wait(baton_curl_loop *loop, bool poll) {
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(loop->epoll, events, EVENTS_AT_ONCE, poll ? 0 : wait_milliseconds(loop));
    for (int i = 0; i < count; i++) {
        int socket = events[i].data.fd;
        if (socket == loop->waker) {
            uint64_t ignored;
            while (read(socket, &ignored, sizeof(ignored)) < 0 && errno == EINTR) {}
            continue;
        }
        struct interest *interest = interest_of(loop, socket);
        if (interest == NULL) continue;
        if (interest->wanted == 0) {
            register_interest(loop, socket, interest);
            continue;
        }
        int mask = 0, running;
        if (events[i].events & (EPOLLIN | EPOLLHUP)) mask |= SELECT_IN;
        if (events[i].events & EPOLLOUT) mask |= SELECT_OUT;
        if (events[i].events & EPOLLERR) mask |= SELECT_ERR;
        baton_curl.multi_socket_action(loop->multi, socket, mask, &running);
    }
    baton_curl_loop_run_due(loop);
}

baton_curl_handle *baton_curl_loop_next_done(baton_curl_loop *loop, int *result) {
    int left;
    struct curl_message *message;
    while ((message = baton_curl.multi_info_read(loop->multi, &left)) != NULL) {
        if (message->kind != 1) continue;
        baton_curl_handle *handle = NULL;
        int code = message->data.result;
        baton_curl.easy_getinfo(message->easy, INFO_PRIVATE, &handle);
        if (handle == NULL) continue;
        *result = code;
        baton_curl_loop_remove(loop, handle);
        return handle;
    }
    return NULL;
}

void baton_curl_loop_mark_dirty(baton_curl_loop *loop, baton_curl_handle *handle) {
    if (handle->dirty) return;
    handle->dirty = true;
    handle->next_dirty = loop->dirty;
    loop->dirty = handle;
}

baton_curl_handle *baton_curl_loop_next_dirty(baton_curl_loop *loop) {
    while (loop->dirty != NULL) {
        baton_curl_handle *handle = loop->dirty;
        loop->dirty = handle->next_dirty;
        handle->dirty = false;
        if (handle->active) return handle;
    }
    return NULL;
}

#endif
