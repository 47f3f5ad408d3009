-- stream_take.lua -- give orders to a writer: the orders that a writer, also this one, took and
-- has not settled for ARGV[4], and new ones.  At least half of the places are for new orders while
-- there are any, so that orders which no writer can write do not keep new orders out.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  where the next search for orders to claim begins; no key: at the first order.  A search
--          looks at a part of the unsettled orders, and the next search continues there
-- KEYS[3]  a hash of voucher -> its orders in the stream
-- ARGV[1]  the group of the writers
-- ARGV[2]  this writer
-- ARGV[3]  the limit of their number
-- ARGV[4]  after how long an order that a writer has not settled is claimed, in milliseconds
--
-- Returns  a line with how many orders were counted and are not in the stream (below 0: so many
--          entries were not counted), and a line for each order: claimed or new, id, order, MAC,
--          with spaces between; an order or a MAC that no service can have made is "?"

local ORDER_MAX = 200 -- bytes

-- Compare the count with the stream, which somebody may have changed, and count again if they
-- differ.
local function recount()
    local missing = -redis.call('XLEN', KEYS[1])
    for _, count in ipairs(redis.call('HVALS', KEYS[3])) do
        missing = missing + count
    end
    local from = missing ~= 0 and redis.call('DEL', KEYS[3]) and '-'
    while from do
        local entries = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 1000)
        for _, entry in ipairs(entries) do
            redis.call('HINCRBY', KEYS[3], entry[2][2]:match('^%w+') or '?', 1)
        end
        from = #entries > 0 and '(' .. entries[#entries][1]
    end
    return missing
end

local function claim(most)
    local from = redis.call('GET', KEYS[2]) or '0-0'
    local claimed = redis.pcall('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[4], from, 'COUNT',
                                most)
    if not claimed.err and claimed[1] == '0-0' and from ~= '0-0' then
        redis.call('DEL', KEYS[2])
    elseif not claimed.err and claimed[1] ~= from then
        redis.call('SET', KEYS[2], claimed[1])
    end
    return claimed
end

local lines = {}

local function add(mark, entries)
    for _, entry in ipairs(entries) do
        local order, mac = entry[2][2], entry[2][4] or ''
        if #order > ORDER_MAX or not order:match('^[%w_.: -]+$') or #mac ~= 64 or
            mac:match('%X') then
            order, mac = '?', '?'
        end
        lines[#lines + 1] = mark .. ' ' .. entry[1] .. ' ' .. order .. ' ' .. mac .. '\n'
    end
end

local missing = recount()
local most = tonumber(ARGV[3])
local half = math.ceil(most / 2)
local claimed = claim(half)
if claimed.err then
    redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
    claimed = claim(half)
end
add('claimed', claimed[2])
if #lines < most then
    local new = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', most - #lines,
                           'STREAMS', KEYS[1], '>')
    add('new', new and new[1] and new[1][2] or {})
end
if #claimed[2] == half and #lines < most then
    add('claimed', claim(most - #lines)[2])
end
-- Entries that no writer has and that are not new either: somebody has deleted their writer from
-- the group.
if #lines == 0 and redis.call('XLEN', KEYS[1]) > 0 and
    redis.call('XPENDING', KEYS[1], ARGV[1])[1] == 0 then
    redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], '0')
end
return missing .. '\n' .. table.concat(lines)
