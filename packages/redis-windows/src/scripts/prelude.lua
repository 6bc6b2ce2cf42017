--[[ What scripts share; prepended to each of them.
A member of w: head 1, time 6, fingerprint 8, creative 6, … (window-member.ts).
A member of r: head 1, id 8, break key 8, slot 1, creative 6, …, granted 6 (reservation-member.ts). Its place is the 15
bytes of break key, slot and creative. ]]
local REFUSED = { erased = -1, expired = -2, tooLate = -3, conflict = -4, full = -5 }

local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Lua prints a number of more than 14 digits as 1e+14.
local function text(number)
  return string.format('%.0f', number)
end

-- The score of a guard: negative, so that reads never see it, and of hours, because a small number takes 5 bytes where
-- milliseconds take 10 (as much as the rest of the guard). An hour is fine enough to drop guards by range.
local HOUR_MS = 3600000
local function guardScore(at)
  return '-' .. text(math.floor(at / HOUR_MS))
end

-- A time of 6 bytes, big-endian, that starts at `from`.
local function timeAt(member, from)
  local high, low = struct.unpack('>HI4', string.sub(member, from, from + 5))
  return high * 4294967296 + low
end

local function timeOf(member) return timeAt(member, 2) end

local function idOf(member) return string.sub(member, 2, 9) end
local function breakKeyOf(member) return string.sub(member, 10, 17) end
local function placeOf(member) return string.sub(member, 10, 24) end
local function grantedAtOf(member) return timeAt(member, 49) end

local function raiseVersion(meta, ttlMs)
  local version = redis.call('HINCRBY', meta, 'v', 1)
  redis.call('PEXPIRE', meta, ttlMs)
  return version
end

-- The key lives exactly as long as its last member.
local function expireWithLast(reservations)
  local last = redis.call('ZREVRANGE', reservations, 0, 0, 'WITHSCORES')
  if last[2] then redis.call('PEXPIREAT', reservations, last[2]) end
end

-- Takes the reservation that an impression answers out of the set: its own, else the one of its place, unless that was
-- granted after the impression came: one that comes a second time (from the other consumer, in a replay) is not the view
-- of a pod that was decided since. `held` are the members of the set; one that was taken is taken from there, too.
local function takeReservation(reservations, held, id, place, receivedAt)
  local found
  for index, member in ipairs(held) do
    if idOf(member) == id then
      found = index
      break
    end
    local isPlace = place ~= '' and placeOf(member) == place and grantedAtOf(member) <= receivedAt
    if not found and isPlace then found = index end
  end
  if not found then return false end
  redis.call('ZREM', reservations, table.remove(held, found))
  return true
end
