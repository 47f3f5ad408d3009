-- latch_count_down.lua -- count a latch down by one.
--
-- KEYS[1]  what is left to count, a number
-- KEYS[2]  the channel on which waiters listen
--
-- Returns  what is left; 0: it is open, and was gone before or is now; if it opened
--          just now that was published as "0"
local left = redis.call('DECR', KEYS[1])
if left > 0 then
    return left
end
redis.call('DEL', KEYS[1])
if left == 0 then
    redis.call('PUBLISH', KEYS[2], '0')
end
return 0
