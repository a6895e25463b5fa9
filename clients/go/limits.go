package millrace

import "time"

// Version is what this library calls itself in User-Agent and context.library.
const Version = "0.1.0"

const libraryName = "millrace-go"

// DefaultEndpoint is where a Millrace server listens on the developer's own machine.
const DefaultEndpoint = "http://localhost:8080"

// The server's own limits, in UTF-8 bytes before compression: it would refuse a request that exceeds them.
const (
	// MaxCallBytes is the size of the largest call, as it is sent.
	MaxCallBytes = 32_768
	// MaxBatchBytes is the size of the largest request.
	MaxBatchBytes = 512_000
	// MaxBatchCalls is how many calls the largest request holds.
	MaxBatchCalls = 2_500

	maxDepth               = 64
	maxMessageIdCharacters = 256
)

// The defaults, for settings left at their zero value.
const (
	defaultFlushAt       = 20
	defaultFlushAfter    = 5 * time.Second
	defaultMaxQueueCalls = 10_000
	defaultMaxQueueBytes = 32 << 20
	defaultMaxTries      = 10
	defaultTimeout       = 10 * time.Second
)

// gzipAbove is where compressing begins to pay: a smaller body fits into one packet as it is.
const gzipAbove = 1024
