-- latch_count_down.lua -- count a latch down by one.
--
-- KEYS[1]  the count that is left, a number
-- KEYS[2]  the channel on which waiters listen
--
-- Returns  the count that is left; 0: the latch is open.  If this call opened it, "0" was
--          published
local left = redis.call('DECR', KEYS[1])
if left > 0 then
    return left
end
redis.call('DEL', KEYS[1])
if left == 0 then
    redis.pcall('PUBLISH', KEYS[2], '0')
end
return 0
