package chain

// RevertedError is a call that a node ran and that reverted. It wraps ErrReverted, and what the node answered.
type RevertedError struct {
	Data []byte // what the call returned
	Node error
}

func (e *RevertedError) Error() string { return e.Node.Error() }

// Unwrap makes it an ErrReverted, and the node's own error.
func (e *RevertedError) Unwrap() []error { return []error{ErrReverted, e.Node} }
