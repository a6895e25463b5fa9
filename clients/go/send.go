package millrace

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// sender makes the requests of one client, one after the other, and keeps what they can share.
type sender struct {
	settings *settings
	plain    []byte
	packed   bytes.Buffer
	gzip     *gzip.Writer
}

func newSender(s *settings) *sender {
	return &sender{settings: s}
}

// answersUpTo bounds what is read of an answer: 2,500 refusals with the longest ids are below it.
const answersUpTo = 8 << 20

// answer is what came of one try.
type answer struct {
	status     int
	retryAfter time.Duration
	body       []byte
	err        error
}

// deliver sends a batch until the server has decided on it or there is no try left. The bytes are made once: that a
// retry is the same request is how the server recognises it.
func (c *Client) deliver(s *sender, calls []queuedCall) {
	body, isGzip := s.encode(calls)
	var last answer
	for try := 1; ; try++ {
		if err := context.Cause(c.life); err != nil {
			c.finish(calls, answer{err: err}, try-1)
			return
		}
		c.verbose("sending", "calls", len(calls), "bytes", len(body), "try", try, "to", c.settings.shownURL)
		last = s.try(c.life, body, isGzip, try)
		if last.err != nil && c.life.Err() != nil {
			last.err = context.Cause(c.life)
		}
		if !last.isWorthRetrying() || try >= c.settings.maxTries || c.life.Err() != nil {
			c.finish(calls, last, try)
			return
		}
		wait := last.wait(try, c.backoff, c.jitter())
		c.verbose("waiting", "ms", wait.Milliseconds(), "status", last.status, "error", last.err)
		sleep(c.life, wait)
	}
}

func sleep(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *sender) encode(calls []queuedCall) (body []byte, isGzip bool) {
	s.plain = append(s.plain[:0], batchStart...)
	for i := range calls {
		if i > 0 {
			s.plain = append(s.plain, ',')
		}
		s.plain = append(s.plain, calls[i].body...)
	}
	s.plain = append(s.plain, batchEnd...)
	if len(s.plain) <= gzipAbove {
		return s.plain, false
	}
	s.packed.Reset()
	if s.gzip == nil {
		// The fastest level: the network saved between it and the next is small, the CPU is the application's.
		s.gzip, _ = gzip.NewWriterLevel(&s.packed, gzip.BestSpeed)
	} else {
		s.gzip.Reset(&s.packed)
	}
	// Writing to memory does not fail.
	_, _ = s.gzip.Write(s.plain)
	_ = s.gzip.Close()
	return s.packed.Bytes(), true
}

func (s *sender) try(ctx context.Context, body []byte, isGzip bool, try int) answer {
	ctx, cancel := context.WithTimeoutCause(ctx, s.settings.timeout, errTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.settings.url, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	s.setHeaders(request.Header, isGzip, try)
	response, err := s.settings.http.Do(request)
	if err != nil {
		return answer{err: nameTimeout(ctx, err)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answersUpTo))
	if err != nil {
		return answer{err: nameTimeout(ctx, err)}
	}
	return answer{
		status:     response.StatusCode,
		retryAfter: readRetryAfter(response.Header.Get("Retry-After"), time.Now()),
		body:       text,
	}
}

func (s *sender) setHeaders(header http.Header, isGzip bool, try int) {
	header.Set("Authorization", s.settings.authorization)
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", libraryName+"/"+Version)
	if isGzip {
		header.Set("Content-Encoding", "gzip")
	}
	if try > 1 {
		header.Set("X-Retry-Count", strconv.Itoa(try-1))
	}
}

var errTimeout = errors.New("the server did not answer in time")

func nameTimeout(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return errTimeout
	}
	return err
}
