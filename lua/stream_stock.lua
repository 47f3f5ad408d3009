-- stream_stock.lua -- write the stock of a voucher, read from PostgreSQL, into Redis.
--
-- KEYS[1]  the voucher: a hash of stock, queued and admitted
-- KEYS[2]  the stream of orders that wait for their rows
-- ARGV[1]  `admitted` as it was before PostgreSQL was asked
-- ARGV[2]  the stock in PostgreSQL
-- ARGV[3]  when the voucher's key expires, in milliseconds since 1970
-- ARGV[4]  the voucher
--
-- Returns  1  the stock is written
--          0  Redis has stock, or an order waits, or one was admitted meanwhile; nothing was
--             changed

-- The units of orders that wait are still in PostgreSQL's stock.
local function count_waiting(voucher)
    local waiting = 0
    for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '-', '+')) do
        for i = 1, #entry[2], 2 do
            if entry[2][i] == 'voucher' and entry[2][i + 1] == voucher then
                waiting = waiting + 1
            end
        end
    end
    return waiting
end

local known = redis.call('HMGET', KEYS[1], 'stock', 'queued', 'admitted')
if (known[3] or '0') ~= ARGV[1] or tonumber(known[1] or 0) > 0 or
    tonumber(known[2] or 0) > 0 then
    return 0
end
local waiting = known[1] and 0 or count_waiting(ARGV[4])
redis.call('HSET', KEYS[1], 'stock', string.format('%.0f', ARGV[2] - waiting), 'queued',
           waiting, 'admitted', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
