/* SPDX-License-Identifier: MIT */
/* test_lab_redis_answer.c -- what is no whole answer of a lab's Redis is refused. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadtest/lab/lab.h"
#include "tests/registered.h"

/* A server that sends `says` to its only client. */
static struct {
    int fd;
    const char *says;
} server;

static void *serve(void *arg)
{
    int client = accept(server.fd, NULL, NULL);
    char request[128];

    (void)arg;
    (void)!read(client, request, sizeof(request));
    (void)!write(client, server.says, strlen(server.says));
    close(client);
    return NULL;
}

/* Ask the server that says that. */
static bool ask(const char *says, char *answer, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    struct lab lab = {.redis_password = "x"};
    pthread_t thread;
    bool is_answered;

    server.says = says;
    server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(server.fd, (struct sockaddr *)&address, sizeof(address)));
    assert_int_equal(0, listen(server.fd, 1));
    assert_int_equal(0, getsockname(server.fd, (struct sockaddr *)&address, &length));
    assert_int_equal(0, pthread_create(&thread, NULL, serve, NULL));
    is_answered = lab_redis_ask(&lab, ntohs(address.sin_port), "INFO", answer, size);
    pthread_join(thread, NULL);
    close(server.fd);
    return is_answered;
}

TEST(answers_without_a_whole_length_are_refused)
{
    static const char *const none[] = {
        "+OK\r\n$ -29\r\n",
        "+OK\r\n$-29",
        "+OK\r\n$999999999999999999999\r\nx\r\n",
        "+OK\r\n$9\r\nshort\r\n",
        "+OK\r\n*2\r\n$1\r\nx\r\n",
        "+OK\r\n*1\r\n$ -29\r\n",
        "$ -29\r\n+OK\r\n",
        "",
    };
    char answer[64];

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        print_message("# %zu\n", i);
        assert_false(ask(none[i], answer, sizeof(answer)));
    }
}

TEST(whole_answers_are_given)
{
    char answer[64];

    assert_true(ask("+OK\r\n$5\r\nhello\r\n", answer, sizeof(answer)));
    assert_string_equal("$5\r\nhello\r\n", answer);
    assert_true(ask("+OK\r\n$-1\r\n", answer, sizeof(answer)));
    assert_string_equal("$-1\r\n", answer);
    assert_true(ask("+OK\r\n*2\r\n$1\r\nx\r\n:7\r\n", answer, sizeof(answer)));
    assert_string_equal("*2\r\n$1\r\nx\r\n:7\r\n", answer);
}
