-- stream_take.lua -- give orders to a writer: the orders that a writer, also this one, took and
-- has not settled for ARGV[4], and new ones.  At least half of the places are for new orders while
-- there are any, so that orders which no writer can write do not keep new orders out.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  where the next search for orders to claim begins; no key: at the first order.  A search
--          looks at a part of the unsettled orders, and the next search continues there
-- ARGV[1]  the group of the writers
-- ARGV[2]  this writer
-- ARGV[3]  the limit of their number
-- ARGV[4]  after how long an order that a writer has not settled is claimed, in milliseconds
--
-- Returns  a line for each: claimed or new, id, voucher, user, order, request, admitted, trace,
--          with spaces between; a field that is missing, is longer than 64 bytes, or has
--          another character than letters, digits and _ . : - is "?"

local NAMES = {'voucher', 'user', 'order', 'request', 'admitted', 'trace'}

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

local function describe(mark, entry)
    local fields, words = {}, {mark, entry[1]}
    for i = 1, #entry[2], 2 do
        fields[entry[2][i]] = entry[2][i + 1]
    end
    for _, name in ipairs(NAMES) do
        local value = fields[name] or '?'
        words[#words + 1] = #value <= 64 and value:match('^[%w_.:-]+$') or '?'
    end
    return table.concat(words, ' ') .. '\n'
end

local lines = {}

local function add(mark, entries)
    for _, entry in ipairs(entries) do
        lines[#lines + 1] = describe(mark, entry)
    end
end

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
return table.concat(lines)
