-- rwlock_inspect.lua -- describe a read/write lock; rwlock_read_acquire.lua has its
-- keys.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the prefix of all level keys of this lock; after it comes
--          ":<owner>:rwlock_timeout:n"
-- ARGV[1]  the channel that waiters listen on
--
-- Returns  text  in the form of lock/info.h; if readers hold the lock, only readers
--                whose leases have not ended are counted, and the owner is one of them
local waiters = string.format('%d', redis.call('PUBSUB', 'NUMSUB', ARGV[1])[2])
local mode = redis.call('HGET', KEYS[1], 'mode')
local owner, levels, readers = '', '0', 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
    local writer = string.match(fields[i], '^(.*):write$')
    if mode == 'write' and writer then
        owner, levels = writer, fields[i + 1]
    end
    local is_alive = false
    for n = 1, tonumber(fields[i + 1]) or 0 do
        local key = KEYS[2] .. ':' .. fields[i] .. ':rwlock_timeout:' .. n
        is_alive = is_alive or redis.call('EXISTS', key) == 1
    end
    if mode == 'read' and is_alive then
        owner, levels, readers = fields[i], fields[i + 1], readers + 1
    end
end
if owner == '' then
    return '0 0 0 ' .. waiters .. ' 0 0 '
end
local left = redis.call('PTTL', KEYS[1])
return (mode == 'read' and '2 ' or '1 ') ..
    (left < 0 and 'never' or string.format('%d', left)) .. ' ' .. levels .. ' ' ..
    waiters .. ' ' .. string.format('%d', readers) .. ' 0 ' .. owner
