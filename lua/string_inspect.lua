-- string_inspect.lua -- tell of a lock that is a string.
--
-- KEYS[1]  the lock
--
-- Returns  nil   nobody holds it
--          text  as dlock_info_read() takes it; the value stands for the owner
local value = redis.call('GET', KEYS[1])
if not value then
    return nil
end
local left = redis.call('PTTL', KEYS[1])
return '1 ' .. (left < 0 and 'never' or string.format('%d', left)) .. ' 1 -1 0 0 ' .. value
