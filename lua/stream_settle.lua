-- stream_settle.lua -- note the outcomes of orders, and remove the orders from the stream.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  the stream of entries that cannot be written, the newest thousand
-- ARGV[1]  the group of the writers
-- ARGV[2]  the prefix of the vouchers' and requests' keys
-- ARGV[3]  a line for each: id, verdict, voucher, user, request, reason, with spaces between.
--          The verdict is written, poison, or the outcome of PostgreSQL's refusal
--
-- Returns  the number of these orders that were in the stream.  Settling an order that another
--          writer has settled changes nothing.

local function exists(key)
    return redis.call('EXISTS', key) == 1
end

local function move_aside(id, reason)
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    redis.call('XADD', KEYS[2], 'MAXLEN', 1000, '*', 'id', id, 'reason', reason,
               unpack(entry and entry[2] or {'fields', 'none'}))
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
-- again, unless the user has an order of the voucher.
local function note(verdict, voucher, user, request)
    local of_voucher = ARGV[2] .. ':voucher:' .. voucher
    local of_request = ARGV[2] .. ':request:' .. user .. ':' .. request
    local earlier = redis.call('GET', of_request)
    if exists(of_voucher) then
        redis.call('HINCRBY', of_voucher, 'queued', -1)
        if (verdict == 'duplicate' or verdict == 'conflict') and has_stock(of_voucher) then
            redis.call('HINCRBY', of_voucher, 'stock', 1)
        elseif verdict == 'sold-out' then
            drop_stock(of_voucher)
        end
    end
    if verdict ~= 'written' and verdict ~= 'duplicate' then
        redis.call('HDEL', ARGV[2] .. ':buyers:' .. voucher, user)
    end
    if earlier then
        redis.call('SET', of_request, (earlier:gsub('^%S+', verdict)), 'KEEPTTL')
    end
end

local settled = 0
for id, verdict, voucher, user, request, reason in
    ARGV[3]:gmatch('(%S+) (%S+) (%S+) (%S+) (%S+) ([^\n]*)\n') do
    if verdict == 'poison' then
        move_aside(id, reason)
    end
    redis.call('XACK', KEYS[1], ARGV[1], id)
    if redis.call('XDEL', KEYS[1], id) == 1 then
        settled = settled + 1
        note(verdict, voucher, user, request)
    end
end
return settled
