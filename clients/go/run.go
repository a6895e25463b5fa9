package millrace

import (
	"math"
	"time"
)

// run starts the goroutine that sends, with the first call that is queued. It is called with the lock held.
func (c *Client) run() {
	if c.isRunning {
		return
	}
	c.isRunning = true
	go func() {
		defer close(c.done)
		var calls []queuedCall
		sender := newSender(&c.settings)
		for {
			calls = c.nextBatch(calls[:0])
			if len(calls) == 0 {
				return
			}
			c.deliver(sender, calls)
			clear(calls)
		}
	}()
}

func (c *Client) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// nextBatch waits for the calls of the next request; there are none once the client is closed and all is sent.
func (c *Client) nextBatch(calls []queuedCall) []queuedCall {
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	for {
		c.mu.Lock()
		now := c.now()
		if c.isDue(now) {
			calls = c.takeBatch(calls, now)
			c.mu.Unlock()
			return calls
		}
		if c.isClosing && len(c.queue.waiting()) == 0 {
			c.mu.Unlock()
			return calls
		}
		if len(c.queue.waiting()) > 0 {
			timer.Reset(c.dueAt.Sub(now))
		}
		c.mu.Unlock()
		select {
		case <-c.wake:
		case <-timer.C:
		}
	}
}

func (c *Client) isDue(now time.Time) bool {
	waiting := c.queue.waiting()
	if len(waiting) == 0 {
		return false
	}
	return waiting[0].number <= c.flushTo || c.isFlushDue() || !now.Before(c.dueAt)
}

func (c *Client) isFlushDue() bool {
	return len(c.queue.waiting()) >= c.settings.flushAt || c.isBatchFull()
}

// isBatchFull says whether waiting longer could not make the next request any larger.
func (c *Client) isBatchFull() bool {
	waiting := len(c.queue.waiting())
	return waiting >= c.settings.maxBatchCalls ||
		c.queue.waitingBytes+waiting-1+len(batchStart)+len(batchEnd) > MaxBatchBytes
}

// takeBatch makes a flush of it: all that waits now is sent, if it takes several requests. Only where nothing but a
// full request is the reason, the rest may go on waiting for company.
func (c *Client) takeBatch(calls []queuedCall, now time.Time) []queuedCall {
	if len(c.queue.waiting()) >= c.settings.flushAt || !now.Before(c.dueAt) {
		c.flushTo = c.queue.lastNumber
	}
	calls = c.queue.take(calls, c.queue.nextBatch(c.settings.maxBatchCalls))
	c.anchor, c.dueAt = now, now.Add(c.settings.flushAfter)
	return calls
}
