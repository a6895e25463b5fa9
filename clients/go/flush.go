package millrace

import (
	"context"
	"fmt"
	"slices"
)

// flush waits for the calls that were held when it began.
type flush struct {
	upTo   uint64
	left   int
	counts Counts
	done   chan struct{}
}

// Flush sends what is queued and waits until all calls made before it have their answer, also those already on their
// way and those of other flushes. It returns what became of them; the error is the context's, when that ended first.
func (c *Client) Flush(ctx context.Context) (Counts, error) {
	c.start.Do(c.begin)
	c.mu.Lock()
	f := c.beginFlush()
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.counts, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushes = slices.DeleteFunc(c.flushes, func(other *flush) bool { return other == f })
	return f.counts, ctx.Err()
}

// beginFlush is called with the lock held.
func (c *Client) beginFlush() *flush {
	f := &flush{upTo: c.queue.lastNumber, left: c.unsettled(), done: make(chan struct{})}
	if f.left == 0 {
		close(f.done)
		return f
	}
	c.flushes = append(c.flushes, f)
	c.flushTo = f.upTo
	c.wakeUp()
	return f
}

// unsettled counts by numbers and not by room, since a dropped call has no room any more while it is being reported.
func (c *Client) unsettled() int {
	return int(c.queue.lastNumber - c.settledNumbers)
}

// tellFlushes is called with the lock held.
func (c *Client) tellFlushes(call *queuedCall, o outcome) {
	if call.number == 0 {
		return
	}
	c.settledNumbers++
	isDone := false
	for _, f := range c.flushes {
		if call.number > f.upTo {
			continue
		}
		f.counts.add(o)
		f.left--
		if f.left == 0 {
			close(f.done)
			isDone = true
		}
	}
	if isDone {
		c.flushes = slices.DeleteFunc(c.flushes, func(f *flush) bool { return f.left == 0 })
	}
}

// Close refuses new calls, sends those that are queued and waits for their answers. It takes as long as that takes: with
// a server that does not answer, all its tries. CloseContext bounds it.
func (c *Client) Close() error {
	return c.CloseContext(context.Background())
}

// CloseContext is Close within a time: when the context ends, the calls that have no answer yet fail, and are reported
// as failed, before it returns. The error says that some of the last calls were not sent. It may be called more than
// once, also at the same time.
func (c *Client) CloseContext(ctx context.Context) error {
	c.start.Do(c.begin)
	c.mu.Lock()
	if !c.isClosing {
		c.isClosing = true
		c.last = c.beginFlush()
		c.openRoom()
	}
	last, isRunning := c.last, c.isRunning
	c.mu.Unlock()
	if !isRunning {
		return nil
	}
	c.wakeUp()
	select {
	case <-c.done:
	case <-ctx.Done():
		c.endLife(fmt.Errorf("the client was closed before there was an answer: %w", context.Cause(ctx)))
		<-c.done
	}
	// A call dropped to make room may still be on its way to its callback.
	<-last.done
	if lost := last.counts.Failed + last.counts.Dropped; lost > 0 {
		return fmt.Errorf("millrace: %d of the last %d calls were not sent", lost, lost+last.counts.Sent)
	}
	return nil
}
