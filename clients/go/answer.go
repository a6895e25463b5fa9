package millrace

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
	// maxRetryAfter is how far a server may put us off; a queue that waits for hours only loses more.
	maxRetryAfter = 5 * time.Minute
)

// isWorthRetrying: a server that understood us and said no will say no again; 408 and 429 only mean "not now".
func (a *answer) isWorthRetrying() bool {
	return a.err != nil || a.status == http.StatusRequestTimeout || a.status == http.StatusTooManyRequests || a.status >= 500
}

func (a *answer) isSuccess() bool {
	return a.err == nil && a.status >= 200 && a.status < 300
}

// wait is how long to wait before the next try: as long as the server asks, else twice as long each time, and between
// half of it and all of it so that many clients do not come back at the same moment.
func (a *answer) wait(try int, first time.Duration, jitter float64) time.Duration {
	if a.retryAfter > 0 {
		return min(a.retryAfter, maxRetryAfter)
	}
	length := min(first<<min(try-1, 20), maxBackoff)
	return length/2 + time.Duration(jitter*float64(length/2))
}

func randomJitter() float64 {
	return rand.Float64()
}

// readRetryAfter takes seconds or a date; a value it cannot read is ignored.
func readRetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// verdict is what the server says in the body of its answer.
type verdict struct {
	Code     string    `json:"code"`
	Message  string    `json:"message"`
	Rejected []refusal `json:"rejected"`
}

type refusal struct {
	Index   int    `json:"index"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// finish settles the calls of a batch by its last answer: those the server names were refused, the others share one fate.
func (c *Client) finish(calls []queuedCall, last answer, tries int) {
	var said verdict
	// An answer we cannot read, from a proxy perhaps, still has its status.
	_ = json.Unmarshal(last.body, &said)
	refused := make(map[int]error, len(said.Rejected))
	for _, each := range said.Rejected {
		if each.Index >= 0 && each.Index < len(calls) {
			refused[each.Index] = &SendError{Status: last.status, Code: each.Code, Message: each.Message, Tries: tries}
		}
	}
	if last.isSuccess() && len(refused) == 0 {
		c.verbose("sent", "calls", len(calls), "status", last.status)
		c.free(calls)
		c.settle(calls, outcomeSent, nil)
		return
	}
	var sent, failed []queuedCall
	var errs []error
	whole := &SendError{Status: last.status, Code: said.Code, Message: said.Message, Tries: tries, Err: last.err}
	for i, call := range calls {
		err, isRefused := refused[i]
		if !isRefused && last.isSuccess() {
			sent = append(sent, call)
			continue
		}
		if !isRefused {
			err = whole
		}
		failed, errs = append(failed, call), append(errs, err)
	}
	c.settings.logger.Printf("%d of %d calls failed: %v", len(failed), len(calls), errs[0])
	c.free(calls)
	c.settle(sent, outcomeSent, nil)
	c.settle(failed, outcomeFailed, errs)
}

// free gives the room of answered calls to blocked callers.
func (c *Client) free(calls []queuedCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue.release(calls)
	c.openRoom()
}
