package setup

import (
	"coffer/ui/doctor"
	"coffer/wallet/vault"
)

// namedMsg tells which profiles there are.
type namedMsg struct{ names []string }

// lookedMsg tells what a network file was found to be.
type lookedMsg struct{ looked }

// steppedMsg is the outcome of a step. wrong and stay keep the person there; take puts what was found into the model, on the event loop. keys are the secrets
// among it, to be wiped when nobody waits for them any more.
type steppedMsg struct {
	gen   int
	wrong map[string]string
	stay  bool
	note  note
	take  func(*Model)
	keys  []vault.Candidate
}

// foundMsg is the outcome of the check.
type foundMsg struct {
	gen   int
	found []doctor.Finding
}

// madeMsg is the outcome of writing everything down.
type madeMsg struct{ err error }
