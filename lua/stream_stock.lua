-- stream_stock.lua -- write the stock of a voucher, read from PostgreSQL, into Redis.
--
-- KEYS[1]  the voucher: a hash of stock and admitted
-- KEYS[2]  a hash of voucher -> its orders in the stream
-- ARGV[1]  `admitted` as it was before PostgreSQL was asked
-- ARGV[2]  the stock in PostgreSQL
-- ARGV[3]  when the voucher's key expires, in milliseconds since 1970
-- ARGV[4]  the voucher
--
-- Returns  1  the stock is written
--          0  Redis has stock, or an order waits, or one was admitted meanwhile; nothing was
--             changed

-- The units of orders that wait are still in PostgreSQL's stock.
local known = redis.call('HMGET', KEYS[1], 'stock', 'admitted')
local waiting = tonumber(redis.call('HGET', KEYS[2], ARGV[4]) or 0)
if (known[2] or '0') ~= ARGV[1] or tonumber(known[1] or 0) > 0 or (known[1] and waiting > 0) then
    return 0
end
redis.call('HSET', KEYS[1], 'stock', string.format('%.0f', ARGV[2] - waiting), 'admitted', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
