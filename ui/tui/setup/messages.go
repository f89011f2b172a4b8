package setup

import (
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// namedMsg brings the names of the existing profiles, and the networks.toml of the working directory.
type namedMsg struct {
	names []string
	nodes string
}

// lookedMsg brings the result of reading a network file.
type lookedMsg struct{ looked }

// steppedMsg is the outcome of a step. wrong and stay keep the person there; take puts the result into the model, on
// the event loop. keys are the secrets in the result, to be wiped when nothing waits for them any more.
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

// madeMsg is the outcome of writing the profile.
type madeMsg struct {
	has profile.Made
	err error
}
