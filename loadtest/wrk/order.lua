-- SPDX-License-Identifier: MIT
-- order.lua -- every request is an order by a different user.
--
--   wrk -t2 -c64 -d10s --timeout 30s -s loadtest/wrk/order.lua http://127.0.0.1:8081
--
-- The users come from the tokens file, and each thread takes its share of the users.  When the
-- users run out, a thread starts over with those who have not bought, so that no user buys twice,
-- and the summary says so.  seckill.lua has the environment variables and the rest.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local seckill = dofile(here .. "seckill.lua")

local tokens, position, wrapped

local function start(thread_id, thread_count, voucher_count)
    tokens = seckill.read_tokens(function(user)
        return (user - 1) % thread_count == (thread_id - 1) % thread_count
    end)
    position, wrapped = 0, 0
    seckill.voucher_count = voucher_count
end

-- The next buyer: user id, token, and which of the vouchers it wants.
local function next_order(n)
    local buyer
    for _ = 1, #tokens do
        position = position + 1
        if position > #tokens then
            position, wrapped = 1, wrapped + 1
        end
        buyer = tokens[position]
        if not seckill.bought[buyer.user] then break end
    end
    return buyer.user, buyer.token, n % seckill.voucher_count + 1
end

local function report()
    return { users = #tokens, wrapped = wrapped }
end

seckill.run({ start = start, next_order = next_order, report = report })
