--[[ Removes what is known of a device and remembers when. Guarantee: impressions that were received before are refused
while they may still be replayed, and a decision that was read before cannot commit after.
KEYS[1] history
KEYS[2] window
KEYS[3] reservations
KEYS[4] meta
ARGV[1] metaTtlMs
Reply: removed history records, removed window members, removed reservations, the break keys of the latter in one
string ]]
local history, window, reservations, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local metaTtlMs = ARGV[1]

local records = redis.call('ZCOUNT', history, '(0', '+inf')
local members = redis.call('ZCOUNT', window, '(0', '+inf')
local held = redis.call('ZRANGE', reservations, 0, -1)
local breakKeys = {}
for index, member in ipairs(held) do breakKeys[index] = breakKeyOf(member) end

redis.call('UNLINK', history, window, reservations)
redis.call('HSET', meta, 'erasedAt', text(nowMs()))
raiseVersion(meta, metaTtlMs)
return { records, members, #held, table.concat(breakKeys) }
