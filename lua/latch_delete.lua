-- latch_delete.lua -- remove a latch without opening it.
--
-- KEYS[1]  what is left to count, a number
-- KEYS[2]  the channel on which waiters listen
--
-- Returns  1  removed, and published as "1", which opens nothing
--          0  there was none
if redis.call('DEL', KEYS[1]) == 0 then
    return 0
end
redis.call('PUBLISH', KEYS[2], '1')
return 1
