package profile

import "testing"

// Z2: with any one of the variables that mark a session over SSH, no question appears on a desktop.
func TestZ2ASessionOverSSHIsKnownByAnyOfItsNames(t *testing.T) {
	for name, ssh := range map[string]bool{"SSH_CONNECTION": true, "SSH_CLIENT": true, "SSH_TTY": true,
		"SSH_AUTH_SOCK": false, "DISPLAY": false} {
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
