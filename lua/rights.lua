-- rights.lua -- name the commands that the user may not send.
--
-- A command is tried as it would be sent, but one that the user may send is not executed.  The
-- names of the locks are not known here, so a key that the user may not touch counts for nothing:
-- only the text of the refusal tells a missing command from a missing key.  A server without
-- redis.acl_check_cmd() (before Redis 7) tells nothing.
--
-- ARGV[1]  the commands, separated by blanks
--
-- Returns  text  the commands that are missing, separated by blanks; empty: none
local WORDS = { -- after the command; 1 unless told
    TIME = 0, SET = 2, HGET = 2, HEXISTS = 2, HDEL = 2, HSET = 3, PEXPIRE = 2, LINDEX = 2,
    LRANGE = 3, LREM = 3, RPUSH = 2, ZADD = 3, ZCOUNT = 3, ZRANGEBYSCORE = 3, ZREM = 2,
    ZSCORE = 2, EVALSHA = 2
}
local missing = {}
for command in string.gmatch(redis.acl_check_cmd and ARGV[1] or '', '%S+') do
    local call = {command, 'dlock:rights', '0', '0'}
    for i = #call, (WORDS[command] or 1) + 2, -1 do
        call[i] = nil
    end
    if not redis.acl_check_cmd(unpack(call)) then
        -- A script may not send EVALSHA, whose refusal has no key here.
        local refusal = command == 'EVALSHA' and 'permissions to run' or
            redis.pcall(unpack(call)).err
        if string.find(refusal, "can't run this command", 1, true) or
            string.find(refusal, 'permissions to run', 1, true) then
            missing[#missing + 1] = command
        end
    end
end
return table.concat(missing, ' ')
