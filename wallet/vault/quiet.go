package vault

import "errors"

// errAsks says that the keyring would have to ask somebody first.
var errAsks = errors.New("it is locked, and in this session no one can unlock it")

// SystemKeyring is the keyring of the operating system. For a session over SSH it is one that asks nobody: a question
// would appear on a desktop that nobody may sit at, and the call would wait for its answer (TH-Z2).
func SystemKeyring(ssh bool) Keyring {
	if open := asking(); ssh && open != nil {
		return quiet{system{}, open}
	}
	return system{}
}

// quiet makes a call only when the keyring is open already. The moment between looking and calling is left: a keyring
// that is locked in it may ask.
type quiet struct {
	ring Keyring
	open func(service, user string) error // fails when a call for this item would raise a question
}

// Set stores an item.
func (q quiet) Set(service, user string, value []byte) error {
	if err := q.open(service, user); err != nil {
		return err
	}
	return q.ring.Set(service, user, value)
}

// Get reads an item.
func (q quiet) Get(service, user string) ([]byte, error) {
	if err := q.open(service, user); err != nil {
		return nil, err
	}
	return q.ring.Get(service, user)
}

// Delete deletes an item.
func (q quiet) Delete(service, user string) error {
	if err := q.open(service, user); err != nil {
		return err
	}
	return q.ring.Delete(service, user)
}
