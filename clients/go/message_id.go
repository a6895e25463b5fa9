package millrace

import "math/rand/v2"

// appendMessageId writes a random UUID. The generator is ChaCha8 seeded by the operating system, one per thread: as hard
// to guess as crypto/rand for this purpose, without a system call for each call.
func appendMessageId(buf []byte) []byte {
	high, low := rand.Uint64(), rand.Uint64()
	high = high&^0xf000 | 0x4000
	low = low&^(0xc<<60) | 0x8<<60
	for i := range 16 {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			buf = append(buf, '-')
		}
		part := high
		if i >= 8 {
			part = low
		}
		octet := byte(part >> (56 - 8*(i&7)))
		buf = append(buf, hexDigits[octet>>4], hexDigits[octet&15])
	}
	return buf
}
