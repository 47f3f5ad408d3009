-- stream_settle.lua -- note the outcomes of orders, and remove the orders from the stream.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  the stream of entries that cannot be written, the newest thousand
-- KEYS[3]  a hash of voucher -> its orders in the stream
-- ARGV[1]  the group of the writers
-- ARGV[2]  the prefix of the vouchers' and requests' keys
-- ARGV[3]  a line for each: id, verdict, voucher, user, request, reason, with spaces between.
--          The verdict is written, poison, forged, or the outcome of PostgreSQL's refusal
--
-- Returns  the number of these orders that were in the stream.  Settling an order that another
--          writer has settled changes nothing.

-- An entry that no service made may have any number of fields.
local WORDS_MAX = 40

local function move_aside(entry, reason)
    redis.call('XADD', KEYS[2], 'MAXLEN', 1000, '*', 'id', entry[1], 'reason', reason,
               unpack(entry[2], 1, math.min(#entry[2], WORDS_MAX)))
end

-- If PostgreSQL had no unit left, Redis has too many: somebody has lowered the stock.  With 0 units
-- here and no order that waits, the next request lets its process read the stock again.
local function has_stock(of_voucher)
    local stock = redis.call('HGET', of_voucher, 'stock')
    return stock and tonumber(stock) > 0
end
local function drop_stock(of_voucher)
    if has_stock(of_voucher) then
        redis.call('HSET', of_voucher, 'stock', 0)
    end
end

-- If PostgreSQL refused an order because of its user or its request, the unit is free again, unless
-- somebody has lowered the stock: with 0 units here the stock is read again.  The user may try
-- again, unless the user has an order of the voucher.  The entry that a service queued for the
-- request counts, and no copy of it.
local function note(id, verdict, voucher, user, request)
    local of_voucher = ARGV[2] .. ':voucher:' .. voucher
    local of_request = ARGV[2] .. ':request:' .. user .. ':' .. request
    local earlier = redis.call('GET', of_request)
    if not earlier or earlier:match('^queued %S+ %S+ (%S+)$') ~= id then
        return
    end
    if (verdict == 'duplicate' or verdict == 'conflict') and has_stock(of_voucher) then
        redis.call('HINCRBY', of_voucher, 'stock', 1)
    elseif verdict == 'sold-out' then
        drop_stock(of_voucher)
    end
    if verdict ~= 'written' and verdict ~= 'duplicate' then
        redis.call('HDEL', ARGV[2] .. ':buyers:' .. voucher, user)
    end
    redis.call('SET', of_request, (earlier:gsub('^%S+', verdict)), 'KEEPTTL')
end

local settled = 0
for id, verdict, voucher, user, request, reason in
    ARGV[3]:gmatch('(%S+) (%S+) (%S+) (%S+) (%S+) ([^\n]*)\n') do
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    if entry then
        local counted = entry[2][2]:match('^%w+') or '?'
        if verdict == 'poison' or verdict == 'forged' then
            move_aside(entry, reason)
        end
        settled = settled + redis.call('XDEL', KEYS[1], id)
        if redis.call('HINCRBY', KEYS[3], counted, -1) < 1 then
            redis.call('HDEL', KEYS[3], counted)
        end
    end
    redis.call('XACK', KEYS[1], ARGV[1], id)
    note(id, verdict, voucher, user, request)
end
return settled
