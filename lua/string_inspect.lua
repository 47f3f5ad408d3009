-- string_inspect.lua -- describe a lock that is a string.
--
-- KEYS[1]  the lock
--
-- Returns  nil   the lock is free
--          text  in the form of lock/info.h; the value is the owner
local value = redis.call('GET', KEYS[1])
if not value then
    return nil
end
local left = redis.call('PTTL', KEYS[1])
return '1 ' .. (left < 0 and 'never' or string.format('%d', left)) .. ' 1 -1 0 0 ' .. value
