package millrace

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	// ErrClosed is returned for calls made after Close.
	ErrClosed = errors.New("millrace: the client is closed")
	// ErrQueueFull is why a call was dropped.
	ErrQueueFull = errors.New("millrace: the queue is full")
)

// Enqueue checks a call and queues it; the methods named after the types do the same without a context. The context
// matters only while WhenFull is Block: when it ends first, the call is not queued and its error is returned.
func (c *Client) Enqueue(ctx context.Context, call Call) error {
	c.start.Do(c.begin)
	if c.startErr != nil {
		return c.startErr
	}
	now := c.now()
	queued, err := c.encode(call, now)
	if err != nil {
		return err
	}
	for {
		dropped, isQueued, room := c.put(queued, now)
		c.settle(dropped, outcomeDropped, nil)
		switch {
		case isQueued:
			return nil
		case room == nil:
			return c.turnAway(queued)
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var encoders = sync.Pool{New: func() interface{} { return new(encoder) }}

// encode makes the call independent of its caller, who may change its maps as soon as it is queued.
func (c *Client) encode(call Call, now time.Time) (queuedCall, error) {
	if isNil(call) {
		return queuedCall{}, errTypeUnknown
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.reset()
	f := &e.call
	call.fields(f)
	add := additions{id: c.newId, now: now, library: c.library}
	if refused := e.encodeCall(f, &add); refused != nil {
		e.reset()
		return queuedCall{}, refused
	}
	queued := queuedCall{kind: f.kind, messageId: f.messageId, body: append([]byte(nil), e.buf...)}
	// The pool must not keep the caller's maps alive.
	e.call = fields{}
	return queued, nil
}

func isNil(call Call) bool {
	switch call := call.(type) {
	case *Identify:
		return call == nil
	case *Track:
		return call == nil
	case *Page:
		return call == nil
	case *Screen:
		return call == nil
	case *Group:
		return call == nil
	case *Alias:
		return call == nil
	}
	return true
}

// put queues the call if it can. If not, room tells when to try again; without it the call is to be turned away.
func (c *Client) put(call queuedCall, now time.Time) (dropped []queuedCall, isQueued bool, room <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosing {
		return nil, false, nil
	}
	if c.settings.whenFull == DropOldest {
		dropped = c.dropFor(len(call.body))
	}
	if !c.fits(len(call.body)) {
		if c.settings.whenFull == Block && len(call.body) <= c.settings.maxBytes {
			room = c.awaitRoom()
		}
		return dropped, false, room
	}
	c.run()
	wasEmpty := len(c.queue.waiting()) == 0
	c.queue.add(call)
	if wasEmpty {
		c.dueAt = nextDue(c.anchor, c.settings.flushAfter, now)
	}
	if wasEmpty || c.isFlushDue() {
		c.wakeUp()
	}
	return dropped, true, nil
}

// nextDue counts flushes of an empty queue too, so that a call waits at most that long and not always that long.
func nextDue(lastFlush time.Time, every time.Duration, now time.Time) time.Time {
	return now.Add(every - now.Sub(lastFlush)%every)
}

func (c *Client) fits(bytes int) bool {
	return c.queue.heldCalls < c.settings.maxCalls && c.queue.heldBytes+bytes <= c.settings.maxBytes
}

// dropFor takes calls out of the queue until a call of that many bytes fits. Those on their way cannot be taken back.
func (c *Client) dropFor(bytes int) []queuedCall {
	var dropped []queuedCall
	for !c.fits(bytes) && len(c.queue.waiting()) > 0 && bytes <= c.settings.maxBytes {
		dropped = c.queue.take(dropped, 1)
		c.queue.release(dropped[len(dropped)-1:])
	}
	return dropped
}

func (c *Client) awaitRoom() <-chan struct{} {
	if c.hasRoom == nil {
		c.hasRoom = make(chan struct{})
	}
	return c.hasRoom
}

func (c *Client) openRoom() {
	if c.hasRoom != nil {
		close(c.hasRoom)
		c.hasRoom = nil
	}
}

// turnAway is for a call that was never queued.
func (c *Client) turnAway(call queuedCall) error {
	c.mu.Lock()
	isClosing := c.isClosing
	c.mu.Unlock()
	if isClosing {
		return ErrClosed
	}
	c.settle([]queuedCall{call}, outcomeDropped, nil)
	return ErrQueueFull
}
