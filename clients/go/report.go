package millrace

import (
	"encoding/json"
	"fmt"
)

// Counts is how many calls came to which end: each that was not refused is counted once.
type Counts struct {
	// Sent calls are stored by the server.
	Sent int
	// Failed calls were refused by the server, or could not be sent.
	Failed int
	// Dropped calls found no room in the queue.
	Dropped int
}

// Report tells how one call ended.
type Report struct {
	// Type is identify, track, page, screen, group or alias.
	Type      string
	MessageId string
	// Call is the call as it is sent: enough to keep it elsewhere and send it another day.
	Call json.RawMessage
	// Err is nil for a sent call, ErrQueueFull for a dropped one, and else usually a *SendError.
	Err error
}

// SendError is why a call could not be sent, or was refused by the server.
type SendError struct {
	// Status is that of the last answer; 0 where there was none.
	Status int
	// Code and Message are the server's, where it gave them: invalid_write_key, for example.
	Code    string
	Message string
	// Tries is how often the call was sent.
	Tries int
	// Err is why there was no answer.
	Err error
}

func (e *SendError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("millrace: no answer (tries: %d): %v", e.Tries, e.Err)
	case e.Code != "":
		return fmt.Sprintf("millrace: answered %d %s (tries: %d): %s", e.Status, e.Code, e.Tries, e.Message)
	default:
		return fmt.Sprintf("millrace: answered %d (tries: %d)", e.Status, e.Tries)
	}
}

func (e *SendError) Unwrap() error { return e.Err }

type outcome int

const (
	outcomeSent outcome = iota
	outcomeFailed
	outcomeDropped
)

func (n *Counts) add(o outcome) {
	switch o {
	case outcomeSent:
		n.Sent++
	case outcomeFailed:
		n.Failed++
	case outcomeDropped:
		n.Dropped++
	}
}

// settle is the one place where a call ends. Waiting flushes go on after its callback has returned, so that the counts
// they then read are complete. errs, where given, holds an error for each call.
func (c *Client) settle(calls []queuedCall, o outcome, errs []error) {
	if len(calls) == 0 {
		return
	}
	if o == outcomeDropped {
		c.drops.note(c.settings.logger, len(calls), c.now())
	}
	c.report(calls, o, errs)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range calls {
		c.totals.add(o)
		c.tellFlushes(&calls[i], o)
	}
}

func (c *Client) report(calls []queuedCall, o outcome, errs []error) {
	tell := c.callback(o)
	if tell == nil {
		return
	}
	for i := range calls {
		call := &calls[i]
		report := Report{Type: call.kind, MessageId: call.messageId, Call: call.body}
		if call.messageId == "" {
			report.MessageId = madeMessageId(call.kind, call.body)
		}
		switch {
		case errs != nil:
			report.Err = errs[i]
		case o == outcomeDropped:
			report.Err = ErrQueueFull
		}
		tell(report)
	}
}

func (c *Client) callback(o outcome) func(Report) {
	switch o {
	case outcomeSent:
		return c.settings.onSent
	case outcomeFailed:
		return c.settings.onFailed
	default:
		return c.settings.onDropped
	}
}
