package millrace

import "time"

// parseTimestamp reads what the server reads, by the contract's list of forms: ISO 8601 with Z, with an offset with or
// without a colon, or without a zone, one to nine digits of a fraction, a date alone, unpadded months and days, and epoch
// milliseconds in 12 to 14 digits.
func parseTimestamp(text string) (at time.Time, isRead bool) {
	if len(text) >= 12 && len(text) <= 14 {
		s := scanner{rest: text}
		if ms := s.digits(len(text), len(text)); !s.failed {
			return time.UnixMilli(int64(ms)).UTC(), true
		}
	}
	s := scanner{rest: text}
	year := s.digits(4, 4)
	s.one("-")
	month := s.digits(1, 2)
	s.one("-")
	day := s.digits(1, 2)
	if s.failed || !isDay(year, month, day) {
		return time.Time{}, false
	}
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if s.rest == "" {
		return midnight, true
	}
	length, isFine := s.clock()
	at = midnight.Add(length)
	return at, isFine && at.Year() >= 0 && at.Year() <= 9999
}

func isDay(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// scanner reads a timestamp from left to right; after a failure it stays failed.
type scanner struct {
	rest   string
	failed bool
}

// clock reads the time of day and the zone to the end of the text, as the length since midnight UTC of that day.
func (s *scanner) clock() (time.Duration, bool) {
	s.one("Tt ")
	hour := s.digits(2, 2)
	s.one(":")
	minute := s.digits(2, 2)
	second, ms := 0, 0
	if s.skip(":") {
		second = s.digits(2, 2)
		if s.skip(".,") {
			ms = s.milliseconds()
		}
	}
	offset, isZone := s.zone()
	// A leap second is the first moment of the next minute.
	isLeapSecond := second == 60 && minute == 59
	if s.failed || !isZone || s.rest != "" || hour > 23 || minute > 59 || (second > 59 && !isLeapSecond) {
		return 0, false
	}
	if isLeapSecond {
		ms = 0
	}
	length := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return length + time.Duration(ms)*time.Millisecond - offset, true
}

func (s *scanner) milliseconds() int {
	ms, count := 0, 0
	for count < 9 && s.rest != "" && isDigit(s.rest[0]) {
		if count < 3 {
			ms = ms*10 + int(s.rest[0]-'0')
		}
		count++
		s.rest = s.rest[1:]
	}
	s.failed = s.failed || count == 0
	for ; count < 3; count++ {
		ms *= 10
	}
	return ms
}

func (s *scanner) zone() (time.Duration, bool) {
	if s.rest == "" || s.skip("Zz") {
		return 0, true
	}
	sign := time.Duration(1)
	if s.rest[0] == '-' {
		sign = -1
	}
	s.one("+-")
	hours, minutes := s.digits(2, 2), 0
	if s.rest != "" {
		s.skip(":")
		minutes = s.digits(2, 2)
	}
	length := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	return sign * length, !s.failed && hours <= 14 && minutes <= 59
}

func (s *scanner) one(of string) {
	s.failed = !s.skip(of) || s.failed
}

func (s *scanner) skip(of string) bool {
	for i := range len(of) {
		if s.rest != "" && s.rest[0] == of[i] {
			s.rest = s.rest[1:]
			return true
		}
	}
	return false
}

func (s *scanner) digits(least, most int) int {
	value, count := 0, 0
	for count < most && s.rest != "" && isDigit(s.rest[0]) {
		value = value*10 + int(s.rest[0]-'0')
		count++
		s.rest = s.rest[1:]
	}
	s.failed = s.failed || count < least
	return value
}

func isDigit(c byte) bool {
	return c >= '0' && c <= '9'
}
