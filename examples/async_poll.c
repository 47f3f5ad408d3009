/* SPDX-License-Identifier: MIT */
/* async_poll.c -- asynchronous locks in a loop of poll(). */
#include <poll.h>

#include "orders.h"

int main(void)
{
    struct pollfd polled;

    orders_begin();
    polled = (struct pollfd){.fd = orders_fd(), .events = POLLIN};
    do
        (void)poll(&polled, 1, -1); /* here the program's other descriptors wait too */
    while (orders_go_on());
    return orders_end();
}
