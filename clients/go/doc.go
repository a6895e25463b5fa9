// Package millrace sends analytics calls to a Millrace server.
//
// Calls are checked and encoded at once, queued in memory and sent in batches by one goroutine in the background, which
// starts with the first call. A call that is not sent is never lost in silence: it is refused with an error, or it is
// counted and reported as failed or dropped.
//
//	client := millrace.New("write-key")
//	defer client.Close()
//	err := client.Track(&millrace.Track{UserId: "user-1", Event: "Order Completed"})
//
// VerifyWebhook is for the other end: the server that receives Millrace's webhooks.
package millrace
