package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/service/access"
)

func TestOneKeyAdmitsExactlyItsKey(t *testing.T) {
	const key = "42bb2c11-a-key-of-this-process"
	auth := access.NewOneKey(key)
	if g, err := auth.Admit(context.Background(), access.Attempt{Key: key}); err != nil || g.Caller == "" {
		t.Fatalf("the right key was refused: %v", err)
	}
	for _, wrong := range []string{"", key + " ", key[:len(key)-1], strings.ToUpper(key), "x"} {
		_, err := auth.Admit(context.Background(), access.Attempt{Key: wrong})
		var e *api.Error
		if !errors.As(err, &e) || e.StatusCode != 401 || e.Name != api.ErrUnauthorized {
			t.Errorf("key %q: %v, expected a 401", wrong, err)
		}
	}
}

func TestOneKeyWithoutAKeyAdmitsNobody(t *testing.T) {
	auth := access.NewOneKey("")
	for _, k := range []string{"", "anything"} {
		if _, err := auth.Admit(context.Background(), access.Attempt{Key: k}); err == nil {
			t.Errorf("key %q was admitted though the process has none", k)
		}
	}
}

func TestKeysNeverAppearInWhatIsPrinted(t *testing.T) {
	const key = "very-secret-key"
	auth := access.NewOneKey(key)
	_, err := auth.Admit(context.Background(), access.Attempt{Key: "guess-of-somebody"})
	for _, printed := range []string{fmt.Sprintf("%+v %#v %s", auth, auth, err), err.Error()} {
		if strings.Contains(printed, key) || strings.Contains(printed, "guess-of-somebody") {
			t.Errorf("a key is printed: %s", printed)
		}
	}
}
