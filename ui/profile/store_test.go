package profile

import "testing"

// Z2: whatever is left of the names by which a session over SSH is known, nobody is asked on a desktop.
func TestZ2ASessionOverSSHIsKnownByAnyOfItsNames(t *testing.T) {
	for name, ssh := range map[string]bool{"SSH_CONNECTION": true, "SSH_CLIENT": true, "SSH_TTY": true, "SSH_AUTH_SOCK": false, "DISPLAY": false} {
		h := Host{Getenv: func(n string) string {
			if n == name {
				return "something"
			}
			return ""
		}}
		if got := h.overSSH(); got != ssh {
			t.Errorf("%s: %v", name, got)
		}
	}
}
