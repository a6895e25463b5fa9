package millrace

// RefusedError says why a call was refused before it was queued. The codes are those of the server and of Millrace's
// other libraries; they never change, the messages may.
type RefusedError struct {
	Code    string
	Message string
}

func (e *RefusedError) Error() string {
	return "millrace: " + e.Code + ": " + e.Message
}

// The refusals a typed language leaves: that an id is not text, for example, is for the compiler to say.
var (
	errTypeUnknown        = &RefusedError{"type_unknown", "the call is nil: pass a pointer to a Track, Identify, Page, Screen, Group or Alias"}
	errTooDeep            = &RefusedError{"too_deep", "the call is nested deeper than 64 levels: send flatter data"}
	errCallTooLarge       = &RefusedError{"call_too_large", "the call is larger than 32,768 bytes: send less in one call"}
	errMessageIdTooLong   = &RefusedError{"message_id_too_long", "MessageId is longer than 256 characters: give a shorter one, or none"}
	errIdRequired         = &RefusedError{"id_required", "the call names no user: set UserId, AnonymousId or both"}
	errUserIdRequired     = &RefusedError{"user_id_required", "the alias call has no UserId: set it to the id to alias to"}
	errPreviousIdRequired = &RefusedError{"previous_id_required", "the alias call has no PreviousId: set it to the id to alias from"}
	errGroupIdRequired    = &RefusedError{"group_id_required", "the group call names no group: set GroupId"}
	errEventNotDefined    = &RefusedError{"event_not_defined", "the track call has no event name: set Event"}
	errContextSelection   = &RefusedError{"integrations_not_object", "integrations inside Context is not an object of destination names: set Integrations instead"}
	errTimestampInvalid   = &RefusedError{"timestamp_invalid", "Timestamp cannot be read: give ISO 8601, such as 2026-11-15T00:08:46.123Z, or none"}
)

// notJSON is the one refusal no server can answer with: such a value cannot even be sent.
func notJSON(reason string) *RefusedError {
	return &RefusedError{"not_json", "a value of the call cannot be written as JSON: " + reason}
}
