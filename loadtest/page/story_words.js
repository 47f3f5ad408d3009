/* SPDX-License-Identifier: MIT */
/* story_words.js -- every text of the story page in English and Chinese; docs/reference/words.md has the terms. */
"use strict";
const PEOPLE_ZH = {Ann: "小安", "Ann's writer": "小安的写线程", Bo: "小博", Chu: "小楚", Dee: "小迪", Eli: "小易", Fay: "小菲", Gus: "小固"};
const STORY_WORDS = {
  en: {
    first: "Start", back: "Back", next: "Next", play: "Play", pause: "Pause", again: "Again", speed: "Speed", halt: "stop at every step", scrub: "Position in the story",
    left: "Performance", right: "beside", alone: "none", ms: "{0} ms", of: "{0} / {1}", steps: "Steps", commands: "Commands of this step", texts: "Every step and command as text",
    drawing: "Lanes of the participants and of the servers at step {0}", noKey: "no holder", ttl: "TTL {0} ms", noTtl: "no TTL", stock: "stock", orders: "orders {0} of {1}",
    out: "no lock", holds: "holds", late: "lost, unaware", waits: "waits", frozen: "frozen", dead: "dead", database: "PostgreSQL", expires: "expires", waitsFor: "waits",
    legendRight: "believes to hold, and the store agrees", legendWrong: "believes to hold, and the store does not", legendBroken: "the rule is broken", legendFrozen: "frozen",
    robs: "The lock that this release deletes belongs to {0}.", two: "✗ two holders", broken: "✗ broken", same: "nothing happens here in this step", left_out: "{0} lines of this story are left out, since it is too long for a page.", damaged: "The records have holes: {0}",
    format: "This recording has format {0}, and this page reads format 1. The text below is complete.", unexpected: "This outcome was not expected.", run: "recorded in {0}, seckill {1}", commit: "commit {0}", seed: "seed {0}",
    facts: "lock {0} · lease {1} ms · stock guard {2}", factsEndless: "lock {0} · no lease · stock guard {2}", article: "Article {0} of the five describes this:", noArticle: "None of the five articles describes this. Source: {0}.",
    space: "Space", k_play: "play, pause", k_step: "next step, step back (clickers)", k_ends: "first step, last step", k_tenth: "jump to a tenth", arrows: "→ ←  PgDn PgUp", ends: "Home End", tenths: "0 – 9",
    rule_exclusion: "Broken: a lock has at most one holder at a time.", rule_lease: "Broken: a holder whose lease is over must not work on while another holds the lock.", rule_kept: "Broken: the store keeps a lock until its release or the end of its lease.",
    rule_ownership: "Broken: only the holder may release a lock.", rule_reentry: "Broken: a holder that asks again gets in level by level, or not at all.", rule_fence: "Broken: the fencing token grows with every holder.",
    over: "Vouchers: {1}, orders: {0}. Oversold by {2}.", lost: "Vouchers: {1}, orders: {0}, and the row says that {2} are left: a lost update.", sound: "Vouchers: {1}, orders: {0}, left: {2}. The audit finds nothing.", under: "Vouchers: {1}, orders: {0}, left: {2}. Undersold.",
    lease_over: "The lease of {0} is over. Nobody tells {0}.", outcome: "Outcome under {0}: {1}."
  },
  zh: {
    first: "开头", back: "上一步", next: "下一步", play: "播放", pause: "暂停", again: "重播", speed: "速度", halt: "每步暂停", scrub: "进度",
    left: "执行", right: "对照", alone: "无", ms: "{0} 毫秒", of: "{0} / {1}", steps: "步骤", commands: "这一步的命令", texts: "所有步骤和命令的文字版",
    drawing: "第 {0} 步时各参与者与服务器的泳道", noKey: "无持有者", ttl: "剩余 {0} 毫秒", noTtl: "没有过期时间", stock: "库存", orders: "订单 {0} / {1}",
    out: "未持锁", holds: "持有锁", late: "锁已丢失，不知情", waits: "等待", frozen: "冻结", dead: "已死", database: "PostgreSQL", expires: "到期", waitsFor: "等待",
    legendRight: "以为持有，存储也认可", legendWrong: "以为持有，存储不认可", legendBroken: "规则被破坏", legendFrozen: "冻结",
    robs: "这次释放删掉的，是{0}的锁。", two: "✗ 两个持有者", broken: "✗ 被破坏", same: "这一步这里什么也没发生", left_out: "步骤太多，页面略去了 {0} 行。", damaged: "记录有缺失：{0}",
    format: "这份记录的格式是 {0}，本页只读格式 1。下面的文字版是完整的。", unexpected: "这个结果不符合预期。", run: "记录于 {0}，seckill {1}", commit: "提交 {0}", seed: "随机种子 {0}",
    facts: "锁 {0} · 租约 {1} 毫秒 · 库存兜底 {2}", factsEndless: "锁 {0} · 没有租约 · 库存兜底 {2}", article: "五篇文章中的 {0} 写到了这一点：", noArticle: "五篇文章都没有写到这一点。出处：{0}。",
    space: "空格", k_play: "播放、暂停", k_step: "下一步、上一步（翻页笔）", k_ends: "第一步、最后一步", k_tenth: "跳到十分之几处", arrows: "→ ←  PgDn PgUp", ends: "Home End", tenths: "0 – 9",
    rule_exclusion: "违反互斥：同一时刻最多一个持有者。", rule_lease: "违反租约：租约结束后，锁已归别人，原持有者不能再执行业务。", rule_kept: "违反保持：在释放或租约到期之前，存储必须保留锁。",
    rule_ownership: "违反归属：只有持有者才能释放锁。", rule_reentry: "违反重入：持有者再次申请，只能逐层进入，或者进不去。", rule_fence: "违反栅栏：栅栏令牌必须随每个新持有者增大。",
    over: "{1} 张券，{0} 个订单：超卖 {2} 张。", lost: "{1} 张券，{0} 个订单，表里却写着还剩 {2} 张：丢失更新。", sound: "{1} 张券，{0} 个订单，剩 {2} 张：审计没有发现问题。", under: "{1} 张券，{0} 个订单，剩 {2} 张：少卖。",
    lease_over: "{0}的租约到期了。没有人通知{0}。", outcome: "锁 {0} 的结果：{1}。"
  }
};
/* Sentences for the lines of the terminal: [pattern, English, Chinese]; $1 is the participant. */
const SENTENCES = [
  [/^(.+) asks for the lock: ok, fence (\d+)$/, "$1 asks for the lock and gets it, with fence $2.", "$1申请锁，拿到了，栅栏令牌是 $2。"],
  [/^(.+) asks for the lock: ok$/, "$1 asks for the lock and gets it.", "$1申请锁，拿到了。"],
  [/^(.+) asks for the lock: (?:busy|timeout)$/, "$1 asks for the lock and does not get it.", "$1申请锁，没有拿到。"],
  [/^(.+) asks for the lock \.\.\.$/, "$1 asks for the lock.", "$1申请锁。"],
  [/^(.+) releases the lock: ok$/, "$1 releases the lock.", "$1释放锁。"],
  [/^(.+) releases the lock: lost$/, "$1 releases the lock, and hears that $1 does not have it any more.", "$1释放锁，得知锁已不属于$1。"],
  [/^(.+) releases the lock \.\.\.$/, "$1 sends the release.", "$1发出释放请求。"],
  [/^(.+) looks at its lease: still valid$/, "$1 looks at the clock: the lease is still valid.", "$1看了看时间：租约仍有效。"],
  [/^(.+) looks at its lease: not valid any more$/, "$1 looks at the clock: the lease is over.", "$1看了看时间：租约已失效。"],
  [/^(.+) reads the stock: (-?\d+)$/, "$1 reads the stock: $2.", "$1读到库存：$2。"],
  [/^(.+) reads the stock \.\.\.$/, "$1 begins to read the stock.", "$1开始读库存。"],
  [/^(.+) buys one: sold$/, "$1 buys one: the order is accepted.", "$1买一张：下单成功。"],
  [/^(.+) buys one: sold out$/, "$1 wants to buy one: sold out.", "$1想买一张：已售罄。"],
  [/^(.+) buys one: refused: an older fence$/, "$1 wants to buy one: the database refuses the old fence.", "$1想买一张：数据库拒绝了旧的栅栏令牌。"],
  [/^(.+) stops: the whole process, .*$/, "The whole process of $1 stops.", "$1的整个进程停住了。"],
  [/^(.+) goes on, and does not know that it had stopped$/, "The process of $1 goes on, and does not know that it had stopped.", "$1的进程恢复运行，并不知道自己停过。"],
  [/^([A-Z].*) is killed$/, "The process of $1 is killed.", "$1的进程被杀死。"],
  [/^(.+) renews its lease: ok$/, "$1 renews the lease.", "$1续期，租约重新计算。"],
  [/^(.+) renews its lease: lost$/, "$1 renews the lease, and hears that $1 does not have it any more.", "$1续期，得知租约已丢失。"],
  [/^(.+) buys one \.\.\.$/, "$1 begins to buy one.", "$1开始买一张。"],
  [/^the wire of (.+) to (.+): hold to-server$/, "What $1 sends to $2 is held up in the network.", "$1发给 $2 的请求卡在网络里。"],
  [/^the wire of (.+) to (.+): release to-server$/, "What $1 sent to $2 arrives now.", "$1发给 $2 的请求这时才到。"]
];
