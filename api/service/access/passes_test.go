package access

import (
	"crypto/rand"
	"errors"
	"testing"

	"coffer/api"
)

func TestAPassIsGoodUntilItIsTakenBack(t *testing.T) {
	var p Passes
	refused := func(key string) bool {
		_, err := p.Admit(t.Context(), Attempt{Key: key})
		var e *api.Error
		return errors.As(err, &e) && e.Name == api.ErrUnauthorized
	}
	if !refused("") || !refused("anything") {
		t.Error("a pass that nobody issued is admitted")
	}
	one, revoke, err := p.Issue(rand.Reader, "guest 1")
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := p.Issue(rand.Reader, "guest 2")
	if err != nil || one == two {
		t.Fatal(err, one == two)
	}
	if g, err := p.Admit(t.Context(), Attempt{Key: one}); err != nil || g.Caller != "guest 1" {
		t.Errorf("%+v, %v", g, err)
	}
	revoke()
	revoke()
	if !refused(one) || refused(two) || !refused("") {
		t.Error("taking one back ends that one alone")
	}
}
