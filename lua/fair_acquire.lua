-- fair_acquire.lua -- take the lock as reentrant_acquire.lua does, but in the order of arrival.
--
-- A list has the waiters, and a sorted set has a deadline for each of them.  A waiter at the head
-- of the list whose deadline has passed counts as dead, and loses its place.  Both have the shapes
-- of Redisson.  A waiter of Redisson sets its deadline once, when it comes, minutes ahead.  A
-- waiter of this library sets its deadline anew with every attempt, a moment ahead, so that a
-- waiter that died delays the others by no more than that moment.  The clock is the server's.
--
-- When a waiter of Redisson takes the lock or gives up, it takes its own waiting time (THEIRS, if
-- it waits without an end) off the deadlines of all waiters behind it.  So a waiter of this library
-- behind such waiters adds that time for each of them, or it would lose its place before its next
-- attempt.  A waiter is Redisson's if its deadline is further ahead than any of this library's, and
-- its owner does not have this library's mark.  The deadline alone does not tell: when the server's
-- clock is set back, the deadlines of this library's waiters are further ahead too, and if
-- time were added for such a waiter and it died, all others would wait for that time.
--
-- The mark is the version of the UUID in the owner: 8 for this library, 4 for Redisson.  A deadline
-- cannot have a mark, because a waiter of Redisson computes its own from that of the waiter before.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  its queue, a list of owners
-- KEYS[3]  the deadlines, a sorted set of owners by ms since 1970
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number", with a uuid of version 8
-- ARGV[3]  level wanted: 1, or one more than the owner holds
-- ARGV[4]  the deadline of the owner, in ms from now; 0: it does not wait
--
-- Returns  nil    taken; the lease ends no earlier than ARGV[1] ms from now
--          n >= 0 another owner holds the lock for n more ms; or has the next turn, so ask again
--                 in n ms
--          -1     another owner holds the lock without a lease
--          -3     the owner does not hold the levels below
local THEIRS = 300000 -- the default of Redisson's fairLockWaitTimeout, in ms
-- The owner of the turn takes the lock soon, and its lease may end long before its turn would have,
-- without a message, so a waiter asks again in a moment.
local TURN_TOLD = 200

local function now_ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function is_ours(owner)
    return string.sub(owner, 15, 15) == '8'
end

-- Compute the deadline of the owner.  The list is read only if a waiter has a later deadline than
-- the owner would have.  If all waiters are this library's, no waiter has, so the cost of an attempt
-- does not grow with the queue.
local function until_when(now)
    local at = now + ARGV[4]
    local far = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. at, '+inf', 'WITHSCORES')
    local believed = {}
    for i = 1, #far, 2 do
        if not is_ours(far[i]) then
            believed[far[i]] = tonumber(far[i + 1])
        end
    end
    if next(believed) then
        for _, waiter in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
            if waiter == ARGV[2] then
                break
            end
            if (believed[waiter] or 0) > at then
                at = at + THEIRS
            end
        end
    end
    return string.format('%.0f', at)
end

local left = redis.call('PTTL', KEYS[1])
local is_free = left == -2 -- there is none
local held = not is_free and tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0) or 0
local wanted = tonumber(ARGV[3])
if held == 0 then
    if wanted > 1 then
        return -3
    end
    local head = is_free and redis.call('LINDEX', KEYS[2], 0)
    local now
    while head and head ~= ARGV[2] do
        now = now or now_ms()
        left = (tonumber(redis.call('ZSCORE', KEYS[3], head)) or 0) - now
        if left > 0 then
            left = math.min(left, TURN_TOLD)
            break
        end
        redis.call('LPOP', KEYS[2])
        redis.call('ZREM', KEYS[3], head)
        head = redis.call('LINDEX', KEYS[2], 0)
    end
    if not is_free or (head and head ~= ARGV[2]) then
        if ARGV[4] ~= '0' and
            redis.call('ZADD', KEYS[3], until_when(now or now_ms()), ARGV[2]) == 1 then
            redis.call('RPUSH', KEYS[2], ARGV[2])
        end
        return math.floor(left)
    end
    if head then
        redis.call('LPOP', KEYS[2])
    end
    redis.call('ZREM', KEYS[3], ARGV[2])
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
if held == 0 or left <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return nil
