--[[ Drops what no rule can need any more: impressions older than the retention, those beyond the newest that a device
keeps, and expired reservations. Guarantee: a guard never goes before its record; what is kept has a TTL.
KEYS[1] window
KEYS[2] history
KEYS[3] reservations
KEYS[4] meta
ARGV[1] cutoffMs
ARGV[2] keepMs
ARGV[3] metaTtlMs
ARGV[4] keepNewest
ARGV[5] stepLimit
Reply: dropped window members, dropped history records, dropped reservations, 1 where more are left to drop ]]
local window, history, reservations, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local cutoff, keepMs, metaTtlMs = ARGV[1], ARGV[2], ARGV[3]
local keepNewest, stepLimit = tonumber(ARGV[4]), tonumber(ARGV[5])
local ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
local JSON_LIST = 91

local function fromBase64url(encoded)
  local bytes, bits, rest = {}, 0, 0
  for i = 1, #encoded do
    rest, bits = rest * 64 + string.find(ALPHABET, string.sub(encoded, i, i), 1, true) - 1, bits + 6
    if bits >= 8 then
      bits = bits - 8
      bytes[#bytes + 1] = string.char(math.floor(rest / 2 ^ bits))
      rest = rest % 2 ^ bits
    end
  end
  return table.concat(bytes)
end

local function guardOf(record)
  if string.byte(record) == JSON_LIST then return fromBase64url(string.sub(record, 3, 13)) end
  return string.sub(record, 8, 15)
end

-- A guard goes up to an hour after its record; what would come again in between is too old to be counted.
local function dropOld(key)
  redis.call('ZREMRANGEBYSCORE', key, '(' .. guardScore(cutoff), '(0')
  return redis.call('ZREMRANGEBYSCORE', key, '(0', '(' .. cutoff)
end

local function dropBeyondNewest(key)
  local excess = redis.call('ZCOUNT', key, '(0', '+inf') - keepNewest
  if excess <= 0 then return 0, false end
  local doomed = redis.call('ZRANGEBYSCORE', key, '(0', '+inf', 'LIMIT', 0, math.min(excess, stepLimit))
  local count = #doomed
  for i = 1, count do doomed[count + i] = guardOf(doomed[i]) end
  redis.call('ZREM', key, unpack(doomed))
  return count, excess > count
end

local function expireIfForever(key, ttlMs)
  if redis.call('PTTL', key) == -1 then redis.call('PEXPIRE', key, ttlMs) end
end

local function trim(key)
  local old, beyond, isMore = dropOld(key), dropBeyondNewest(key)
  expireIfForever(key, keepMs)
  return old + beyond, isMore
end

local windowDropped, isMoreWindow = trim(window)
local historyDropped, isMoreHistory = trim(history)
local expired = redis.call('ZREMRANGEBYSCORE', reservations, '-inf', text(nowMs()))
if redis.call('PTTL', reservations) == -1 then expireWithLast(reservations) end
expireIfForever(meta, metaTtlMs)
return { windowDropped, historyDropped, expired, (isMoreWindow or isMoreHistory) and 1 or 0 }
