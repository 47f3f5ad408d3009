-- SPDX-License-Identifier: MIT
-- one_per_user.lua -- the same user orders over every connection at once.
--
--   wrk -t2 -c32 -d5s --timeout 30s -s loadtest/wrk/one_per_user.lua http://127.0.0.1:8081
--
-- Time is cut into slots of $SECKILL_SLOT_MS (4) milliseconds.  In each slot all
-- threads, whichever service process they talk to, order for one and the same user,
-- since they look at the same clock; $SECKILL_SLOT_USERS (100) users take turns.  When
-- all had their turn the next voucher of $SECKILL_VOUCHER is next: the lock is the
-- user's, so the same lock guards all of that user's vouchers.
--
-- While the laboratory aims at one user's lock, every second request is that user's, for
-- the vouchers in turn: on a busy machine wrk may not run in the user's slot.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local seckill = dofile(here .. "seckill.lua")

local tokens, by_user, slot_ms, voucher_count

local function start(_, _, vouchers)
    slot_ms = tonumber(os.getenv("SECKILL_SLOT_MS")) or 4
    local most = tonumber(os.getenv("SECKILL_SLOT_USERS")) or 100
    local all = seckill.open_users(1, 1)
    tokens, by_user = {}, {}
    for user, token in all.next, all do
        if #tokens == most then break end
        tokens[#tokens + 1] = { user = user, token = token }
        by_user[user] = tokens[#tokens]
    end
    voucher_count = vouchers
end

local function next_order(n)
    local target = by_user[seckill.target()]
    if target and n % 2 == 0 then
        return target.user, target.token, n / 2 % voucher_count + 1
    end
    local slot = math.floor(seckill.now_us() / 1000 / slot_ms)
    local buyer = tokens[slot % #tokens + 1]
    return buyer.user, buyer.token, math.floor(slot / #tokens) % voucher_count + 1
end

local function report()
    return { users = #tokens, wrapped = 0, unserved = 0 }
end

seckill.run({ start = start, next_order = next_order, report = report })
