/* SPDX-License-Identifier: MIT */
/* delayed_write.c -- nobody stops and no lease ends: a write that was given up arrives
 * late. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *writer = stage_actor(s, 1),
                 *bo = stage_actor(s, 2);

    stage_tell(s, "Ann takes the lock; one voucher is left.  Another thread of Ann's "
                  "writes.",
               "小安拿到锁，还剩一张券。由小安的另一个线程去写。");
    actor_enter(ann);
    actor_read(writer);
    stage_tell(s, "The write is sent, and is delayed in the network.",
               "写请求发出去了，却在网络里耽搁了。");
    actor_wire(writer, WIRE_SHOP, "hold to-server");
    actor_begin_buy_for(writer, ann);
    actor_await_wire(writer, WIRE_SHOP);
    stage_tell(s, "Ann gets no answer, takes that for a failure, and releases the lock.",
               "小安等不到应答，当成失败，释放了锁。");
    stage_need_in_time(s, actor_release(ann) == DLOCK_OK, "Ann's lease was to last");
    stage_tell(s, "Bo takes the lock, and buys the last one.",
               "小博拿到锁，买走了最后一张。");
    actor_enter(bo);
    actor_buy(bo);
    actor_release(bo);
    stage_tell(s, "Now Ann's write arrives.", "这时小安的写请求才到。");
    actor_wire(writer, WIRE_SHOP, "release to-server");
    actor_end_buy(writer);
}

const struct scenario scenario_delayed_write = {
    .name = "delayed-write",
    .number = "S5",
    .title = "The write that arrives late",
    .title_zh = "迟到的写请求",
    .source = "Kleppmann 2016: a packet that the network delays; HBase had this bug",
    .story = {"Ann takes the lock and sends a write, which the network delays.",
              "Ann gets no answer, gives the write up, and releases within her lease.",
              "Bo takes the lock by right, and buys the last voucher.",
              "Then Ann's write arrives, and is carried out.",
              "The lock did nothing wrong; only the database can refuse the late write."},
    .story_zh = {"小安拿到锁，发出的写请求在网络里耽搁了。",
                 "小安等不到应答，便放弃写入，在租约内释放了锁。",
                 "小博名正言顺地拿到锁，买走最后一张券。",
                 "随后小安的写请求到了，照样被执行。",
                 "锁没有做错什么；只有数据库能拒绝迟到的写入。"},
    .actors = {"Ann", "+Ann's writer", "Bo"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .lease_ms = 10000,
    .play = play,
};
