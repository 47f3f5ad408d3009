-- semaphore_drain.lua -- take all permits there are.
--
-- KEYS[1]  how many permits there are to take, a number
--
-- Returns  how many were taken; 0 if there were none
local value = tonumber(redis.call('GET', KEYS[1]) or 0)
if value <= 0 then
    return 0
end
redis.call('DECRBY', KEYS[1], value)
return value
