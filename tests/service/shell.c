/* SPDX-License-Identifier: MIT */
/* shell.c -- runs programs of the machine for tests. */
#include "tests/service/shell.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

const char *shell(const char *command)
{
    static char said[8192];
    FILE *out = popen(command, "re");
    size_t n;

    assert_non_null(out);
    n = fread(said, 1, sizeof(said) - 1, out);
    said[n] = '\0';
    if (pclose(out) != 0)
        fail_msg("%s: %s", command, said);
    return said;
}

int shell_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    (void)close(fd);
    return ntohs(at.sin_port);
}
