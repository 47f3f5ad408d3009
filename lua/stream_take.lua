-- stream_take.lua -- give orders to a writer: first the orders that a writer, also this one, took
-- and has not settled for ARGV[4], then new ones.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- ARGV[1]  the group of the writers
-- ARGV[2]  this writer
-- ARGV[3]  the limit of their number
-- ARGV[4]  after how long an order that a writer has not settled is claimed, in milliseconds
--
-- Returns  a line for each: claimed or new, id, voucher, user, order, request, admitted, trace,
--          with spaces between; a field that is missing, is longer than 64 bytes, or has
--          another character than letters, digits and _ . : - is "?"

local NAMES = {'voucher', 'user', 'order', 'request', 'admitted', 'trace'}

local function claim()
    return redis.pcall('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[4], '0-0', 'COUNT',
                       ARGV[3])
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
local claimed = claim()
if claimed.err then
    redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
    claimed = claim()
end
for _, entry in ipairs(claimed[2]) do
    lines[#lines + 1] = describe('claimed', entry)
end
if #lines < tonumber(ARGV[3]) then
    local new = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT',
                           ARGV[3] - #lines, 'STREAMS', KEYS[1], '>')
    for _, entry in ipairs(new and new[1] and new[1][2] or {}) do
        lines[#lines + 1] = describe('new', entry)
    end
end
return table.concat(lines)
