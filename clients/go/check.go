package millrace

import "unicode/utf8"

// check finds what is wrong with a call that could be encoded. The order is part of the contract: a call with two
// faults gets the same code from every library and from the server.
func (f *fields) check() *RefusedError {
	if len(f.messageId) > maxMessageIdCharacters && utf8.RuneCountInString(f.messageId) > maxMessageIdCharacters {
		return errMessageIdTooLong
	}
	if err := f.checkIds(); err != nil {
		return err
	}
	if f.kind == "track" && f.event == "" {
		return errEventNotDefined
	}
	return nil
}

func (f *fields) checkIds() *RefusedError {
	switch {
	case f.kind == "alias" && f.userId == "":
		return errUserIdRequired
	case f.kind == "alias" && f.previousId == "":
		return errPreviousIdRequired
	case f.userId == "" && f.anonymousId == "":
		return errIdRequired
	case f.kind == "group" && f.groupId == "":
		return errGroupIdRequired
	}
	return nil
}
