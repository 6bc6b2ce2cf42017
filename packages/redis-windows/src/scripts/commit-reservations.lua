--[[ Stores what a decision granted: its reservations and its pod, all or nothing. Guarantee: commits only what was
decided from the latest version, and nothing once the caller has given up waiting.
KEYS[1] meta
KEYS[2] reservations
KEYS[3] pod
ARGV[1] expectedVersion
ARGV[2] notAfterMs
ARGV[3] liveLimit
ARGV[4] metaTtlMs
ARGV[5] storedPod (empty: the break is forgotten)
ARGV[6] podExpiresAtMs
ARGV[7..] each: expiresAtMs, member (an empty expiry removes the member)
Reply: the new version, or -3 too late, -4 conflict, -5 full ]]
local meta, reservations, pod = KEYS[1], KEYS[2], KEYS[3]
local expectedVersion, notAfter, liveLimit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local metaTtlMs, storedPod, podExpiresAt = ARGV[4], ARGV[5], ARGV[6]
local now = nowMs()

if now > notAfter then return REFUSED.tooLate end
if tonumber(redis.call('HGET', meta, 'v') or 0) ~= expectedVersion then return REFUSED.conflict end

local live = redis.call('ZCOUNT', reservations, '(' .. text(now), '+inf')
local added, removed = {}, {}
for i = 7, #ARGV, 2 do
  local expiresAt, member = ARGV[i], ARGV[i + 1]
  if expiresAt == '' then
    removed[#removed + 1] = member
    local score = redis.call('ZSCORE', reservations, member)
    if score and tonumber(score) > now then live = live - 1 end
  else
    added[#added + 1] = expiresAt
    added[#added + 1] = member
    live = live + 1
  end
end
if live > liveLimit then return REFUSED.full end

-- First, because Redis refuses what would need memory that it lacks only before a script has written anything: behind a
-- removal it would let all of this pass.
if storedPod == '' then
  redis.call('DEL', pod)
else
  redis.call('SET', pod, storedPod, 'PXAT', podExpiresAt)
end
redis.call('ZREMRANGEBYSCORE', reservations, '-inf', text(now))
if #removed > 0 then redis.call('ZREM', reservations, unpack(removed)) end
if #added > 0 then redis.call('ZADD', reservations, unpack(added)) end
expireWithLast(reservations)
return raiseVersion(meta, metaTtlMs)
